-- Gives back an order's hold that was never persisted.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch  2 customer  3 order
-- Reply {'given_back'} | {'no_hold'} (the order has none any more) | {'unknown'}
--       {'unavailable'} | {'stale_epoch', active}
-- Invariant: units come back once; the order stays as a tombstone; a persisted order keeps its units.

local function release()
  local refusal = refused(tonumber(ARGV[1]))
  if refusal then
    return refusal
  end
  local customer = ARGV[2]
  local order = order_of(customer, ARGV[3])
  if not order then
    return { 'unknown' }
  elseif order.state ~= HELD then
    return { 'no_hold' }
  end
  order_end(customer, order, ENDED, now)
  return { 'given_back' }
end

local reply = release()
commit()
return reply
