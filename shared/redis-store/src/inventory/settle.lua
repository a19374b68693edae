-- Makes Redis agree with an order's item in DynamoDB.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch (7), the epoch it was held in (7), customer (15), order and print (32), version (4),
--         pay-by (6; 0 none), state (1: 2 live, 3 withdrawn, 5 ended), 1 if read again after the epoch
--         was seen (1); then its lines as lines.lua reads them
-- Reply {'applied'} | {'ignored'} | {'conflict', customer, order} | {'lost'} | {'reread'}
--       {'unavailable'} | {'stale_epoch', active}
-- Invariant: a version is applied once and none after a later one; a unit is never taken from an
-- order that is live here; an order that ended keeps its tombstone.

local item = ARGV[1]
local epoch, held_in, customer, order_id, print, version, pay_by, state, reread =
  parse('>I7I7c15c16c16I4I6BB', item)

local function order_new()
  local order = { order = order_id, print = print, expiry = now, state = ENDED, version = 0, lines = {} }
  insert(book_of(customer), order)
  return order
end

-- Where a live item can't be applied: Redis lost writes, or the item may be older than what made the
-- order hold nothing here any more, as another epoch does.
local function doubt(order)
  if held_in >= epoch and not order then
    return { 'lost' }
  end
  local holds = order and order.state == HELD and order.expiry > now
  local is_known = order and (order.version > 0 or held_in >= epoch and holds)
  return not is_known and reread == 0 and { 'reread' } or nil
end

local function conflict(lines)
  for _, line in ipairs(lines) do
    for _, unit in ipairs(line.units) do
      local rival, owner = unit_rival(pool_at(line.index), unit, order_id)
      if rival and rival.state ~= HELD then
        return { 'conflict', owner, rival.order }
      end
    end
  end
end

local function settle()
  local order = refused(epoch)
  if order then
    return order
  end
  order = order_of(customer, order_id)
  if order and version <= order.version then
    return { 'ignored' }
  end
  local indexes = {}
  indexes_add(indexes, order)
  if state == ENDED then
    order = order or order_new()
    order_end(customer, order, ENDED, now)
  else
    local lines = lines_parse(item, 74)
    local objection = doubt(order) or (not lines and { 'lost' }) or conflict(lines)
    if objection then
      return objection
    end
    order = order or order_new()
    order_own(customer, order, state, lines)
    order.expiry = pay_by
  end
  order.version = version
  indexes_add(indexes, order)
  dues_write(customer, indexes)
  return { 'applied' }
end

local reply = settle()
commit()
return reply
