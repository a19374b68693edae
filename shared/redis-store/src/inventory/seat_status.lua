-- One seat.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch  2 type  3 label
-- Reply {'unavailable'} | {'unknown'} | {state} | {1, expiry, ms left}
-- Invariant: writes nothing; a seat reads as free from the very end of its hold on.

local function status()
  if refused(tonumber(ARGV[1])) then
    return { 'unavailable' }
  end
  local p = pool_named(ARGV[2])
  local unit = p and p.kind == SEATS and tonumber(seats_find(p, { ARGV[3] })[1])
  if not unit then
    return { 'unknown' }
  end
  local state, owner = unit_read(p, unit)
  local order = state == HELD and order_with(p, unit, owner)
  if not order then
    return { state }
  elseif is_lapsed(order) then
    return { FREE }
  end
  return { HELD, order.expiry, order.expiry - now }
end

return status()
