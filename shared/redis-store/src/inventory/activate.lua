-- Lets an epoch sell, if all that was read for it has arrived.
--
-- KEYS  1 gate  2 customers  3 ended
-- ARGV  1 epoch  2 units  3 orders
-- Reply 1: it sells; 0: it does not (another epoch, or something was lost on the way)
-- Invariant: an epoch is activated by its own builder only, and only whole.

local function is_whole()
  for index = 1, gate.types do
    local p = gate.names[index] and pool_at(index)
    if p and p.kind == SEATS and call('HLEN', base .. 'seats/' .. p.name) ~= p.ceiling then
      return false
    end
  end
  return gate.units == tonumber(ARGV[2]) and gate.orders == tonumber(ARGV[3])
end

-- Sessions that ended while another epoch sold have ended in this one too.
local function sessions_carry()
  local ended = call('ZRANGEBYSCORE', KEYS[3], now, '+inf', 'WITHSCORES')
  for i = 1, #ended, 2 do
    local customer, session, until_ms = sub(ended[i], 1, 15), sub(ended[i], 16), tonumber(ended[i + 1])
    local book = book_of(customer)
    insert(book, { order = session, print = NOTHING, expiry = until_ms, state = SESSION, version = 0,
      lines = {} })
    book.dirty = true
  end
end

if not gate or gate.epoch ~= tonumber(ARGV[1]) or not is_whole() then
  return 0
end
if gate.building then
  gate.building, gate.dirty = false, true
  sessions_carry()
  commit()
end
return 1
