-- Holds units for an order: all of them or none. Concatenated after shortage.lua; reserve_fast.lua stands
-- in front of all.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 the wish: epoch (7), end of the session's token (6; 0 none), the quantity if this is one
--         line of general admission (1; else 0), mode (1: B buy, R replay only, W withdraw), customer
--         (15), order and print (32), hold ms (4), session (16), then for each line its count (1),
--         with the highest bit set for seats
--       2 … for each line '/type/', followed by the labels of its seats
-- Reply (fast) expiry and line as in the customers hash: held; 'S': sold out, line 0
--       {'held' | 'replayed', expiry, lines} | {'mismatch'} | {'lapsed'} | {'ended'} | {'not_found'}
--       {'unavailable'} | {'stale_epoch', active} | {'not_open', opens} | {'closed'} | {'paused'}
--       {'session_ended'} | {'over_limit', type or '', limit} | {'too_many_orders'}
--       {'again'} | {'overdue', customer, order, …} | {'grant_needed', type, mark, ceiling}
--       {'recovering'} | {'sold_out', line} | {'seat_taken', line, label, …}
--       {'unknown_type', line} | {'wrong_kind', line} | {'unknown_seat', line, label, …}
-- Invariant: an order that lapsed or ended never holds again in this epoch; a refusal takes nothing.

local MOST_ORDERS = 200
local LAPSED_AT_ONCE = 16

local wish = ARGV[1]
local epoch, session_end, _, mode, customer, order_id, print, hold, session =
  parse('>I7I6Bc1c15c16c16I4c16', wish)

-- What is left of an order that was there before; nil if there is none.
local function replay()
  local order = order_of(customer, order_id)
  if not order then
    return nil
  end
  if order.print ~= print then
    return { 'mismatch' }
  end
  if is_lapsed(order) then
    customer_lapse(customer)
  end
  if order.state == LAPSED then
    return { 'lapsed' }
  elseif order.state == ENDED then
    return { 'ended' }
  end
  return { 'replayed', order.expiry, lines_reply(order.lines) }
end

local function has_ended(session)
  for _, order in ipairs(book_of(customer)) do
    if order.state == SESSION and order.order == session then
      return true
    end
  end
  return now >= session_end
end

-- Why nothing can be bought now.
local function not_now()
  if gate.switch == 3 or now >= gate.closes then
    return { 'closed' }
  elseif gate.switch == 0 or now < gate.opens then
    return { 'not_open', gate.opens }
  elseif gate.switch == 2 then
    return { 'paused' }
  elseif session_end > 0 and has_ended(session) then
    return { 'session_ended' }
  end
end

-- The lines asked for: {{number, pool, count, labels, units}, …}, or why they make no sense.
local function lines_read()
  local lines, at = {}, 2
  for number = 0, #wish - 83 do
    local count, line = byte(wish, 83 + number), { number = number }
    local p = pool_named(sub(ARGV[at], 2, -2))
    line.pool, line.count = p, count % 128
    at = at + 1
    if not p then
      return nil, { 'unknown_type', number }
    elseif (count >= 128) ~= (p.kind == SEATS) then
      return nil, { 'wrong_kind', number }
    elseif p.kind == SEATS then
      line.labels = { unpack(ARGV, at, at + line.count - 1) }
      at = at + line.count
      local unknown = units_find(line)
      if unknown then
        return nil, unknown
      end
    end
    insert(lines, line)
  end
  return lines
end

local function has_too_many_orders()
  local orders = 0
  for _, order in ipairs(book_of(customer)) do
    orders = orders + (order.state == SESSION and 0 or 1)
  end
  return orders >= MOST_ORDERS
end

-- Which limit the lines are over, beside what the customer has: with or without overdue orders.
local function limit_passed(lines, with_overdue)
  local all, of_type = 0, {}
  for _, order in ipairs(book_of(customer)) do
    for _, line in ipairs((with_overdue or not is_overdue(order)) and order.lines or {}) do
      all = all + #line.units
      of_type[line.index] = (of_type[line.index] or 0) + #line.units
    end
  end
  for _, line in ipairs(lines) do
    local p = line.pool
    all = all + line.count
    if p.limit > 0 and (of_type[p.index] or 0) + line.count > p.limit then
      return { 'over_limit', p.name, p.limit }
    end
  end
  if gate.limit > 0 and all > gate.limit then
    return { 'over_limit', '', gate.limit }
  end
end

-- Only what a customer has and may keep stands against a limit: overdue orders are to be ended first.
local function over_limit(lines)
  if has_too_many_orders() then
    return { 'too_many_orders' }
  end
  local passed = limit_passed(lines, false)
  if passed or not limit_passed(lines, true) then
    return passed
  end
  local overdue = { 'overdue' }
  for _, order in ipairs(book_of(customer)) do
    if is_overdue(order) and #overdue < 2 * OVERDUE_AT_ONCE then
      overdue_note(overdue, customer, order)
    end
  end
  return overdue
end

local function fresh(p, count)
  return max(0, min(count, p.mark - p.next))
end

local function grant_needed(lines)
  for _, line in ipairs(lines) do
    local p = line.pool
    if p.kind == GENERAL and fresh(p, line.count) + p.returned < line.count then
      return { 'grant_needed', p.name, p.mark, p.ceiling }
    end
  end
end

-- Serials never issued come before those that came back: the latter may still be some order's in
-- DynamoDB whose settling is on its way.
local function serials_pick(p, count)
  local units = {}
  for i = 1, fresh(p, count) do
    units[i] = p.next + i - 1
  end
  if #units < count then
    local back = call('SRANDMEMBER', base .. 'returned/' .. p.name, count - #units)
    for _, serial in ipairs(back) do
      insert(units, tonumber(serial))
    end
  end
  return units
end

local function take(lines)
  local order = { order = order_id, print = print, expiry = now + hold, state = HELD, version = 0,
    lines = {} }
  for _, line in ipairs(lines) do
    local p = line.pool
    local units = line.units or serials_pick(p, line.count)
    for _, unit in ipairs(units) do
      unit_write(p, unit, FREE, HELD, customer)
    end
    insert(order.lines, { index = p.index, amount = p.amount, version = p.version, units = units })
  end
  local book = book_of(customer)
  insert(book, order)
  book.dirty = true
  hold_enqueue(customer, order.expiry)
  return { 'held', order.expiry, lines_reply(order.lines) }
end

local function reserve()
  local refusal = refused(epoch) or replay()
  if refusal then
    return refusal
  elseif mode == 'R' then
    return { 'not_found' }
  end
  refusal = mode == 'B' and not_now()
  if refusal then
    return refusal
  end
  local lines, nonsense = lines_read()
  if nonsense then
    return nonsense
  end
  lapse(LAPSED_AT_ONCE)
  customer_lapse(customer)
  refusal = (mode == 'B' and over_limit(lines)) or shortage(lines) or grant_needed(lines)
  return refusal or take(lines)
end

local reply = reserve()
commit()
return reply
