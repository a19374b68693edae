-- Gives back an order's hold that was never persisted.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch  2 customer  3 order
-- Reply 1: given back; 0: there was no such hold, or no such inventory
-- Invariant: units come back once; the order stays as a tombstone; a persisted order keeps its units.

local customer = ARGV[2]
local order = not refused(tonumber(ARGV[1])) and order_of(customer, ARGV[3])
if not order or order.state ~= HELD then
  return 0
end
order_end(customer, order, ENDED, now)
commit()
return 1
