-- Orders as they come from DynamoDB: settle and orders_load read them. Concatenated after prelude.lua.

-- A line's units, or nil where this inventory can't have them.
local function units_read(text, at, p, kind, count)
  local units, labels = {}, {}
  for i = 1, count do
    if kind == GENERAL then
      units[i], at = parse('>I4', text, at)
      if p and units[i] >= p.ceiling then
        p = nil
      end
    else
      local length
      length, at = parse('>B', text, at)
      labels[i], at = sub(text, at, at + length - 1), at + length
    end
  end
  if not p or p.kind ~= kind then
    return nil, at
  end
  if kind == SEATS and count > 0 then
    units = seats_find(p, labels)
    for i, unit in ipairs(units) do
      if not unit then
        return nil, at
      end
      units[i] = tonumber(unit)
    end
  end
  return units, at
end

-- Lines from: name's length (1), name, amount (4), version (4), kind (1), count (1), then serials (4)
-- or labels, each after its length (1). nil where a type or a unit is unknown here.
local function lines_parse(text, at)
  local lines = {}
  while at <= #text do
    local line, length, kind, count = {}, nil, nil, nil
    length, at = parse('>B', text, at)
    local p = pool_named(sub(text, at, at + length - 1))
    line.amount, line.version, kind, count, at = parse('>I4I4BB', text, at + length)
    line.units, at = units_read(text, at, p, kind, count)
    if not line.units then
      return nil
    end
    line.index = p.index
    insert(lines, line)
  end
  return lines
end

-- Notes the types of an order's lines.
local function indexes_add(indexes, order)
  for _, line in ipairs(order and order.lines or {}) do
    indexes[line.index] = true
  end
end

-- By when the first of a customer's unpaid orders of a type is to be paid.
local function due_of(customer, index)
  local first = NEVER
  for _, order in ipairs(book_of(customer)) do
    if order.state == LIVE and order.expiry > 0 then
      for _, line in ipairs(order.lines) do
        first = line.index == index and min(first, order.expiry) or first
      end
    end
  end
  return first
end

local function score_set(key, member, score)
  if score == NEVER then
    call('ZREM', key, member)
  else
    call('ZADD', key, score, member)
  end
end

local function score_first(key)
  return tonumber(call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]) or NEVER
end

-- Writes by when the customer's orders of these types are to be paid: each type has its own list, so
-- that a crowd's unpaid orders of one type hide none of another.
local function dues_write(customer, indexes)
  for index in pairs(indexes) do
    local key = base .. 'dues/' .. gate.names[index]
    score_set(key, customer, due_of(customer, index))
    score_set(base .. 'dues', index, score_first(key))
  end
  gate.unpaid, gate.dirty = score_first(base .. 'dues'), true
end

-- Who holds or owns a unit against an order that wants it: the order and its customer; nil if nobody.
local function unit_rival(p, unit, id)
  local state, owner = unit_read(p, unit)
  if state == FREE or state == WITHHELD then
    return nil
  end
  local order = order_with(p, unit, owner)
  if order and order.order ~= id then
    return order, owner
  end
end

-- Makes an order own exactly these lines in this state. Holds in the way lapse: their intents will be
-- refused by DynamoDB. No rival may be live.
local function order_own(customer, order, state, lines)
  for _, line in ipairs(lines) do
    for _, unit in ipairs(line.units) do
      local rival, owner = unit_rival(pool_at(line.index), unit, order.order)
      if rival then
        order_end(owner, rival, LAPSED, min(now, rival.expiry))
      end
    end
  end
  -- What it has and keeps is given back and taken again: two writes, no third case.
  order_end(customer, order, order.state, order.expiry)
  for _, line in ipairs(lines) do
    local p = pool_at(line.index)
    for _, unit in ipairs(line.units) do
      unit_write(p, unit, (unit_read(p, unit)), state, customer)
    end
  end
  order.state, order.lines = state, lines
end
