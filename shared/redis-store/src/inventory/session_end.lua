-- Ends a shopping session: nothing is bought in it any more.
--
-- KEYS  1 gate  2 ended
-- ARGV  1 customer  2 session  3 until when a token of it can live
-- Reply 1
-- Invariant: the session is refused from here on, in this epoch and the next. It is kept with the
-- customer's orders, so that a reservation finds it without asking twice.

local customer, session, until_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
call('ZADD', KEYS[2], 'GT', until_ms, customer .. session)
if not gate or gate.building then
  return 1
end
customers = sub(KEYS[1], 1, -5) .. string.format('%.0f', gate.epoch) .. ':customers'
local book, mark = book_of(customer), nil
for _, order in ipairs(book) do
  if order.state == SESSION and order.order == session then
    mark = order
  end
end
if not mark then
  mark = { order = session, print = NOTHING, expiry = 0, state = SESSION, version = 0, lines = {} }
  insert(book, mark)
end
mark.expiry, book.dirty = max(mark.expiry, until_ms), true
commit()
return 1
