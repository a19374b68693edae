-- Says when the sale is on, and how much one customer can have.
--
-- KEYS  1 gate
-- ARGV  1 epoch  2 version  3 switch (0 scheduled, 1 open, 2 paused, 3 closed)  4 opens ms  5 closes ms
--       6 limit per customer (0 none)
-- Reply 1 applied, 0 not newer, -1 another epoch
-- Invariant: absolute values, newer versions only; nobody's units change.

local epoch, version = tonumber(ARGV[1]), tonumber(ARGV[2])
if not gate or gate.epoch ~= epoch then
  return -1
end
if version <= gate.version then
  return 0
end
gate.version, gate.switch = version, tonumber(ARGV[3])
gate.opens, gate.closes, gate.limit = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
for index = 1, gate.types do
  pool_at(index) -- the limit is in each type's bytes too
end
gate_write()
return 1
