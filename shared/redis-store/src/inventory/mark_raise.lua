-- Lets serials below a mark be issued. The mark is in DynamoDB already.
--
-- KEYS  1 gate
-- ARGV  1 epoch  2 type  3 mark
-- Reply 1 applied, 0 not higher, -1 another epoch or no such type
-- Invariant: the mark only grows, and never beyond the ceiling.

local epoch, mark = tonumber(ARGV[1]), tonumber(ARGV[3])
local p = gate and gate.epoch == epoch and pool_named(ARGV[2])
if not p then
  return -1
end
mark = min(mark, p.ceiling)
if mark <= p.mark then
  return 0
end
p.mark = mark
gate_write()
return 1
