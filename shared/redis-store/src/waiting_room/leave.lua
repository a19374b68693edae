-- Gives up a place. One who is in leaves in two steps: the caller ends the session at the till, then
-- calls again with the number it ended; freeing the slot first would let two sessions buy in it.
-- Reply {'session', number, generation, until}: end that session first, for that long
--       {'left'}, {'no_place'} or {'no_line'}
-- Invariant: a slot is freed only after its session was ended for as long as the slot would have lived:
-- no token given for it lives longer, whatever the settings were and are. One that was given by a
-- renewal since makes it longer, and then the session is to be ended again.

if not line.generation then
  return { 'no_line' }
end
advance()
local customer = ARGV[1]
local place = place_read(customer)
if not place or place.use == ENDED then
  return { 'no_place' }
end
local until_ms = unended_until(place)
if until_ms then
  return { 'session', place.number, line.generation, until_ms }
end
call('ZREM', ACTIVE, place.number)
call('ZREM', CALLED, place.number)
call('ZREM', LATE, place.number)
if place.number > line.serving then
  call('SADD', LEFT, place.number)
end
place.use = ENDED
place_write(customer, place)
advance()
return { 'left' }
