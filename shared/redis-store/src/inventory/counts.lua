-- The counts of every type.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch
-- Reply {} without such an active inventory, else {{type, ceiling, free, held, live, withdrawn}, …}
-- Invariant: lapsed holds are given back first; free + held + live + withdrawn = ceiling, less what a
-- recovery withholds.

local LAPSED_AT_ONCE = 200

if refused(tonumber(ARGV[1])) then
  return {}
end
lapse(LAPSED_AT_ONCE)
commit()
return counts_reply()
