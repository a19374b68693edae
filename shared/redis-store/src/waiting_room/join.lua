-- Gives a customer a place, or the place the customer has. A place that has ended is none; but a session
-- that ran out a moment ago is ended at the till first, like that of one who leaves.
-- Reply {'place', place reply, 1 if new}
--       {'session', number, generation, until}: end that session first, for that long
--       {'no_line'}
-- Invariant: one place per customer; a number is given to one place only; when a new one is given, no
-- token of the place before it buys any more.

if not line.generation then
  return { 'no_line' }
end
local customer, fresh = ARGV[1], 0
advance()
local place = place_read(customer)
if not place or place_state(place) == IS_ENDED then
  if place then
    local until_ms = unended_until(place)
    if until_ms then
      return { 'session', place.number, line.generation, until_ms }
    end
    call('ZREM', ACTIVE, place.number)
  end
  place = { number = number_new(), use = UNUSED, recalls = 0, session_end = 0 }
  place_write(customer, place)
  fresh = 1
  advance()
end
return { 'place', place_reply(place), fresh }
