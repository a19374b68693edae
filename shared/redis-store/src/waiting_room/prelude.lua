-- Shared by every script of the waiting room.
--
-- KEYS  1 control  hash   generation issued serving cap grace session token version turn
--       2 places   hash   customer key -> number(4) entered(1) recalls(1) session end(6)
--       3 called   zset   number -> when the call lapses, ms
--       4 active   zset   number -> when the slot is given on, ms
--       5 left     set    numbers that left before they were called
--       6 late     zset   number -> when it asked to be called again, ms
-- ARGV  1 customer key, where the script is about one customer
--       2 and 3, where it can give a session's slot on: the number whose session the caller ended at
--         the till (0: none), and until when
--
-- Invariant: after any script, active + called <= cap, unless the cap was lowered; then nobody
-- is called until it holds again. A number is given once and never changes.

local call, pack, unpack = redis.call, struct.pack, struct.unpack
local CONTROL, PLACES, CALLED, ACTIVE, LEFT, LATE =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]

-- What a place was used for.
local UNUSED, ENTERED, ENDED = 0, 1, 2
-- What a place is, as the reply says it.
local WAITING, IS_CALLED, IS_ACTIVE, MISSED, IS_ENDED = 'waiting', 'called', 'active', 'missed', 'ended'
-- A slot outlives its last token by this, so that no token buys after its slot was given on.
local SLOT_MARGIN = 5000
-- A late-comer is called again so often, then placed last.
local MOST_RECALLS = 2
-- These bound one script's work; the next request goes on. A number that left costs a step and no call.
local MOST_CALLS, MOST_STEPS = 500, 5000

local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local line = {}
do
  local names = { 'generation', 'issued', 'serving', 'cap', 'grace', 'session', 'token', 'version' }
  local values = call('HMGET', CONTROL, 'generation', 'issued', 'serving', 'cap', 'grace', 'session',
    'token', 'version', 'turn')
  for at, name in ipairs(names) do
    line[name] = tonumber(values[at])
  end
  line.turn = values[9]
end

-- Gives up slots and calls that ran out, then calls while there is room. A late-comer has at most
-- every second call, so those who wait in line lose no more than that to them.
local function advance()
  call('ZREMRANGEBYSCORE', ACTIVE, '-inf', now)
  call('ZREMRANGEBYSCORE', CALLED, '-inf', now)
  local room = math.min(line.cap - call('ZCARD', ACTIVE) - call('ZCARD', CALLED), MOST_CALLS)
  local late = call('ZCARD', LATE)
  local until_ms = now + line.grace
  local serving, turn, steps = line.serving, line.turn, MOST_STEPS
  while room > 0 and steps > 0 do
    steps = steps - 1
    if late > 0 and (turn == 'late' or serving >= line.issued) then
      call('ZADD', CALLED, until_ms, call('ZPOPMIN', LATE)[1])
      late, room, turn = late - 1, room - 1, 'line'
    elseif serving < line.issued then
      serving = serving + 1
      if call('SREM', LEFT, serving) == 0 then
        call('ZADD', CALLED, until_ms, serving)
        room, turn = room - 1, 'late'
      end
    else
      break
    end
  end
  if serving ~= line.serving or turn ~= line.turn then
    line.serving, line.turn = serving, turn
    call('HSET', CONTROL, 'serving', serving, 'turn', turn)
  end
end

local function place_read(customer)
  local packed = call('HGET', PLACES, customer)
  if not packed then
    return nil
  end
  local number, use, recalls, session_end = unpack('>I4BBI6', packed)
  return { number = number, use = use, recalls = recalls, session_end = session_end }
end

local function place_write(customer, place)
  call('HSET', PLACES, customer,
    pack('>I4BBI6', place.number, place.use, place.recalls, place.session_end))
end

-- Until when the place's session is to be ended at the till before its slot is given on; nil: no token
-- of it lives, or the caller has ended it for that long.
local function unended_until(place)
  local slot = place.use == ENTERED and call('ZSCORE', ACTIVE, place.number)
  if slot and (place.number ~= tonumber(ARGV[2]) or tonumber(slot) > tonumber(ARGV[3])) then
    return tonumber(slot)
  end
end

-- What the place is now, until when, and how many are called before it at most. A session is over at
-- its end for every script alike, although its slot is kept a little longer.
local function place_state(place)
  if place.use == ENDED then
    return IS_ENDED, 0, 0
  end
  if place.use == ENTERED then
    local slot = call('ZSCORE', ACTIVE, place.number)
    if slot and now < place.session_end then
      return IS_ACTIVE, math.min(tonumber(slot), place.session_end), 0
    end
    return IS_ENDED, 0, 0
  end
  if place.number > line.serving then
    local before = place.number - line.serving - 1
    return WAITING, 0, before + math.min(call('ZCARD', LATE), before + 1)
  end
  local deadline = call('ZSCORE', CALLED, place.number)
  if deadline then
    return IS_CALLED, tonumber(deadline), 0
  end
  local rank = call('ZRANK', LATE, place.number)
  if rank then
    return WAITING, 0, rank + math.min(rank + 1, line.issued - line.serving)
  end
  return MISSED, 0, 0
end

local function place_reply(place)
  local state, until_ms, ahead = place_state(place)
  return { line.generation, place.number, state, until_ms, ahead }
end

local function number_new()
  line.issued = call('HINCRBY', CONTROL, 'issued', 1)
  return line.issued
end
