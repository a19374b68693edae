-- Gives a customer a place, or the place the customer has. A place that has ended is none.
-- Reply nil (no such line) or {place reply, 1 if new}
-- Invariant: one place per customer; a number is given to one place only.

if not line.generation then
  return nil
end
local customer, fresh = ARGV[1], 0
advance()
local place = place_read(customer)
if not place or place_state(place) == IS_ENDED then
  place = { number = number_new(), use = UNUSED, recalls = 0, session_end = 0 }
  place_write(customer, place)
  fresh = 1
  advance()
end
return { place_reply(place), fresh }
