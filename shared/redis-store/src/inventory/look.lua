-- Whether a customer could have units, all at once and beside those the customer has of them: an
-- operator's withdrawal asks before it takes the first of its orders. Concatenated after shortage.lua.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch  2 customer  3 type  4 quantity (0: seats)  5 … labels of seats
-- Reply {} if they are free, else why they are not, in the words of reserve.lua: {'unavailable'}
--       {'stale_epoch', active} | {'unknown_type', 0} | {'wrong_kind', 0} | {'unknown_seat', 0, label, …}
--       {'again'} | {'overdue', customer, order, …} | {'recovering'} | {'sold_out', 0}
--       {'seat_taken', 0, label, …}
-- Invariant: nothing is taken; lapsed holds in the way are given back.

local epoch, customer, name, quantity = tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])

-- How many places of a type the customer has.
local function places_had(p)
  local places = 0
  for _, order in ipairs(book_of(customer)) do
    for _, line in ipairs(order.lines) do
      places = places + (line.index == p.index and #line.units or 0)
    end
  end
  return places
end

-- The line without the seats that the customer has.
local function seats_missing(line)
  local missing = { number = line.number, pool = line.pool, labels = {}, units = {} }
  for i, unit in ipairs(line.units) do
    local _, owner = unit_read(line.pool, unit)
    if owner ~= customer then
      insert(missing.labels, line.labels[i])
      insert(missing.units, unit)
    end
  end
  return missing
end

local function look()
  local refusal = refused(epoch)
  if refusal then
    return refusal
  end
  local p = pool_named(name)
  if not p then
    return { 'unknown_type', 0 }
  elseif (quantity == 0) ~= (p.kind == SEATS) then
    return { 'wrong_kind', 0 }
  end
  customer_lapse(customer)
  local line = { number = 0, pool = p, count = quantity - places_had(p) }
  if p.kind == SEATS then
    line.labels = { unpack(ARGV, 5) }
    local unknown = units_find(line)
    if unknown then
      return unknown
    end
    line = seats_missing(line)
  end
  return shortage({ line }) or {}
end

local reply = look()
commit()
return reply
