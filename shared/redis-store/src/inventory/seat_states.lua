-- The states of ranges of seats, and what remains of every type, at one instant.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch, then for each range: type, first index, count
-- Reply {} without such an active inventory, else {sequence, counts as in counts.lua, states, …}:
--       a byte for each seat
-- Invariant: lapsed holds are given back first; counts and states are those after that sequence.

local LAPSED_AT_ONCE = 200

local function states(name, first, count)
  local p = pool_named(name)
  if not p or count == 0 then
    return rep('\0', count)
  end
  local slots = call('GETRANGE', base .. 'slots/' .. name, first * 16, (first + count) * 16 - 1)
  return (string.gsub(slots .. rep('\0', count * 16 - #slots), '(.)...............', '%1'))
end

if refused(tonumber(ARGV[1])) then
  return {}
end
lapse(LAPSED_AT_ONCE)
commit()
local reply = { gate.seq, counts_reply() }
for at = 2, #ARGV, 3 do
  insert(reply, states(ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])))
end
return reply
