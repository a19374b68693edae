-- Loads orders into an epoch that is being built.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch  2 … an order each: customer (15), order and print (32), version (4), pay-by (6; 0 none),
--       state (1: 2 live, 3 withdrawn, 5 ended); then its lines as lines.lua reads them
-- Reply 1, or -1: this epoch is not being built
-- Invariant: an order is counted once. One that can't be placed (its unit is taken, its type is
-- unknown) is left out; then the counts differ, and the epoch is not activated.

local function load(text)
  local customer, id, print, version, pay_by, state = parse('>c15c16c16I4I6B', text)
  if order_of(customer, id) then
    return
  end
  local lines, units = lines_parse(text, 59), 0
  for _, line in ipairs(lines or {}) do
    for _, unit in ipairs(line.units) do
      if unit_rival(pool_at(line.index), unit, id) then
        return
      end
      units = units + 1
    end
  end
  if not lines then
    return
  end
  local order = { order = id, print = print, expiry = now, state = ENDED, version = version, lines = {} }
  insert(book_of(customer), order)
  book_of(customer).dirty = true
  if state == ENDED then
    return
  end
  order_own(customer, order, state, lines)
  order.expiry = pay_by
  local indexes = {}
  indexes_add(indexes, order)
  dues_write(customer, indexes)
  gate.units, gate.orders, gate.dirty = gate.units + units, gate.orders + 1, true
end

if not gate or not gate.building or gate.epoch ~= tonumber(ARGV[1]) then
  return -1
end
for at = 2, #ARGV do
  load(ARGV[at])
end
commit()
return 1
