-- What time and failovers do to an order, done at once: its hold lapses, it falls due, it is
-- forgotten. Concatenated after the prelude and the lines of the inventory's scripts.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch  2 customer  3 order  4 'lapse' | 'due' | 'forget'
-- Reply 1: done; 0: there is no such order

local customer, what = ARGV[2], ARGV[4]
local order = not refused(tonumber(ARGV[1])) and order_of(customer, ARGV[3])
if not order then
  return 0
end
local book, indexes = book_of(customer), {}
indexes_add(indexes, order)
if what == 'lapse' and order.state == HELD then
  order.expiry = now
  hold_enqueue(customer, now)
elseif what == 'due' and order.state == LIVE then
  order.expiry = now
elseif what == 'forget' then
  order_end(customer, order, ENDED, 0)
  for at, one in ipairs(book) do
    if one == order then
      table.remove(book, at)
      break
    end
  end
end
book.dirty = true
dues_write(customer, indexes)
commit()
return 1
