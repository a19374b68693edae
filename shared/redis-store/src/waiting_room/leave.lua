-- Gives up a place. One who is in leaves in two steps: the caller ends the session at the till, then
-- calls again with the number it ended; freeing the slot first would let two sessions buy in it.
-- ARGV  2 the number whose session was ended; 0 none
-- Reply {'session', number, generation, until}: end that session first, for that long
--       {'left'}, {'no_place'} or {'no_line'}

if not line.generation then
  return { 'no_line' }
end
advance()
local customer, ended = ARGV[1], tonumber(ARGV[2])
local place = place_read(customer)
local state = place and place_state(place)
if not place or state == IS_ENDED then
  return { 'no_place' }
end
if state == IS_ACTIVE and place.number ~= ended then
  -- A renewal that is under way right now may still give a token; a minute covers it.
  return { 'session', place.number, line.generation, now + line.token + 60000 }
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
