-- Makes or edits a ticket type.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch  2 type  3 index  4 kind (0 general admission, 1 seats)  5 amount  6 version
--       7 limit per customer (0 none)  8 ceiling  9 mark
-- Reply 1 applied, 0 nothing new, -1 another epoch; an error where index or kind are another's
-- Invariant: ceiling and mark only grow; price and limit change with newer versions only.

local epoch, name, index, kind = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local amount, version, limit = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local ceiling, mark = tonumber(ARGV[8]), tonumber(ARGV[9])

if not gate or gate.epoch ~= epoch then
  return -1
end
if (gate.indexes[name] or index) ~= index or (gate.names[index] or name) ~= name then
  return redis.error_reply('INVALID a type keeps its index, and an index its type')
end

local applied = 0
if not gate.names[index] then
  gate.raw = sub(gate.raw, 1, HEAD_SIZE + gate.types * POOL_SIZE)
    .. rep('\0', POOL_SIZE * max(0, index - gate.types))
  gate.types = max(gate.types, index)
  gate.names[index], gate.indexes[name] = name, index
  local p = pool_at(index)
  p.kind, p.index, applied = kind, index, 1
end
local p = pool_at(index)
if p.kind ~= kind then
  return redis.error_reply('INVALID a type keeps its kind')
end
if version > p.version then
  p.amount, p.version, p.limit, applied = amount, version, limit, 1
end
if ceiling > p.ceiling then
  p.free, p.ceiling, p.dirty, applied = p.free + ceiling - p.ceiling, ceiling, true, 1
end
if min(mark, p.ceiling) > p.mark then
  p.mark, applied = min(mark, p.ceiling), 1
end
gate.dirty = applied == 1
commit()
return applied
