-- Adds a contiguous range of seats to a type.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch  2 type  3 index of the first seat  4 … labels
-- Reply 1 applied, 0 all were there, -1 another epoch or no such type; an error where a label or an
--       index is another's
-- Invariant: a seat keeps its index and its state; the ceiling only grows. Who follows the log hears
-- of new seats: of the first one, that it is free, as the rest come with the section that it is in. An
-- inventory that is being built has no log yet, and is told as a whole.

local epoch, first, count = tonumber(ARGV[1]), tonumber(ARGV[3]), #ARGV - 3
local p = gate and gate.epoch == epoch and pool_named(ARGV[2])
if not p then
  return -1
end
if p.kind ~= SEATS then
  return redis.error_reply('INVALID general admission has no seats')
end
local seats, labels, slots = base .. 'seats/' .. p.name, base .. 'labels/' .. p.name, base .. 'slots/' .. p.name
local new = nil
for i = 1, count do
  local index, label = call('HGET', seats, ARGV[3 + i]), call('HGET', labels, first + i - 1)
  if (index and tonumber(index) ~= first + i - 1) or (label and label ~= ARGV[3 + i]) then
    return redis.error_reply('INVALID a seat keeps its index, and an index its seat')
  end
  new = new or (not index and first + i - 1) or nil
end
if not new then
  return 0
end
for i = 1, count do
  call('HSET', seats, ARGV[3 + i], first + i - 1)
  call('HSET', labels, first + i - 1, ARGV[3 + i])
end
local ceiling = max(p.ceiling, first + count)
if call('STRLEN', slots) < ceiling * 16 then
  call('SETRANGE', slots, ceiling * 16 - 1, '\0')
end
if not gate.building then
  insert(changes, pack('>BBI3', p.index, FREE, new))
end
p.free, p.ceiling, p.dirty = p.free + ceiling - p.ceiling, ceiling, true
commit()
return 1
