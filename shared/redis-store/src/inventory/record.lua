-- What is known of an order.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch  2 customer  3 order
-- Reply {'known', state, print, expiry, lines} | {'unknown'} | {'unavailable'} | {'stale_epoch', active}
-- Invariant: writes nothing; a hold reads as lapsed from its very expiry on.

local function record()
  local refusal = refused(tonumber(ARGV[1]))
  if refusal then
    return refusal
  end
  local order = order_of(ARGV[2], ARGV[3])
  if not order then
    return { 'unknown' }
  elseif is_lapsed(order) then
    return { 'known', LAPSED, order.print, order.expiry, {} }
  end
  return { 'known', order.state, order.print, order.expiry, lines_reply(order.lines) }
end

return record()
