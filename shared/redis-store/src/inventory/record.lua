-- What is known of an order.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch  2 customer  3 order
-- Reply {} (unknown, or no such inventory) or {state, print, expiry, lines}
-- Invariant: writes nothing; a hold reads as lapsed from its very expiry on.

local order = not refused(tonumber(ARGV[1])) and order_of(ARGV[2], ARGV[3])
if not order then
  return {}
end
if is_lapsed(order) then
  return { LAPSED, order.print, order.expiry, {} }
end
return { order.state, order.print, order.expiry, lines_reply(order.lines) }
