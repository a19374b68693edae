-- Lets a called customer in, or renews the session of one who is in.
-- Reply {'entered', number, generation, token expiry, session end}, {'waiting' | 'missed', place reply},
--       {'ended'}, {'no_place'} or {'no_line'}
-- Invariant: entering twice is one session in one slot; an ended place never enters again; the slot
-- lives until the last token given for it has expired, and five seconds more.

if not line.generation then
  return { 'no_line' }
end
advance()
local customer = ARGV[1]
local place = place_read(customer)
if not place then
  return { 'no_place' }
end

local function let_in()
  local token_expiry = math.min(now + line.token, place.session_end)
  call('ZADD', ACTIVE, 'GT', token_expiry + SLOT_MARGIN, place.number)
  return { 'entered', place.number, line.generation, token_expiry, place.session_end }
end

local state = place_state(place)
if state == IS_CALLED then
  call('ZREM', CALLED, place.number)
  place.use, place.session_end = ENTERED, now + line.session
  place_write(customer, place)
  return let_in()
end
if state == IS_ACTIVE then
  return let_in()
end
if state == IS_ENDED then
  return { 'ended' }
end
if state == MISSED then
  if place.recalls < MOST_RECALLS then
    place.recalls = place.recalls + 1
    call('ZADD', LATE, now, place.number)
  else
    place.number, place.recalls = number_new(), 0
  end
  place_write(customer, place)
  advance()
  -- Where there is room at once, asking again is answered by the call itself.
  if place_state(place) == IS_CALLED then
    call('ZREM', CALLED, place.number)
    place.use, place.session_end = ENTERED, now + line.session
    place_write(customer, place)
    return let_in()
  end
  return { 'missed', place_reply(place) }
end
return { 'waiting', place_reply(place) }
