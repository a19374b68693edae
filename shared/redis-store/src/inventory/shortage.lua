-- Why units can't be had: reserve and look ask it. Concatenated after prelude.lua.
--
-- A line: its number, pool and count; of seats their labels, and their units as units_find finds them.

local LAPSED_WHEN_SHORT, OVERDUE_AT_ONCE = 500, 50

-- Finds the units of a line of seats; the reply where some are unknown.
local function units_find(line)
  line.units = seats_find(line.pool, line.labels)
  local unknown = { 'unknown_seat', line.number }
  for i, unit in ipairs(line.units) do
    line.units[i] = tonumber(unit)
    if not unit then
      insert(unknown, line.labels[i])
    end
  end
  return #unknown > 2 and unknown or nil
end

local function is_overdue(order)
  return order.state == LIVE and order.expiry > 0 and order.expiry <= now
end

local function overdue_note(overdue, owner, order)
  if not overdue[order.order] then
    overdue[order.order] = true
    insert(overdue, owner)
    insert(overdue, order.order)
  end
end

-- Which seats of a line others have. A seat's own lapsed hold is given back right here.
local function seats_taken(line, overdue)
  local taken, p = {}, line.pool
  for i, unit in ipairs(line.units) do
    local state, owner = unit_read(p, unit)
    if state == WITHHELD then
      line.withheld = true
    elseif state ~= FREE then
      local order = order_with(p, unit, owner)
      if order and is_lapsed(order) then
        order_end(owner, order, LAPSED, order.expiry)
        state = FREE
      elseif order and is_overdue(order) then
        overdue_note(overdue, owner, order)
      end
    end
    if state ~= FREE then
      insert(taken, line.labels[i])
    end
  end
  return taken
end

local function has_type(order, p)
  for _, line in ipairs(order.lines) do
    if line.index == p.index then
      return true
    end
  end
end

-- Unpaid orders that keep places of a type although their time to pay is over: the first of them, as
-- many as there can be units in an order and some more. Each has a place, so none is looked for in vain.
local function places_overdue(p, overdue)
  local left, dues = OVERDUE_AT_ONCE, base .. 'dues/' .. p.name
  for _, owner in ipairs(call('ZRANGEBYSCORE', dues, 0, now, 'LIMIT', 0, OVERDUE_AT_ONCE)) do
    for _, order in ipairs(book_of(owner)) do
      if left > 0 and is_overdue(order) and has_type(order, p) then
        overdue_note(overdue, owner, order)
        left = left - 1
      end
    end
  end
end

-- The reply where a line can't be had; nil if all can.
local function shortage(lines)
  local overdue, first, withheld = { 'overdue' }, nil, false
  for _, line in ipairs(lines) do
    local p, short = line.pool, nil
    if p.kind == SEATS then
      local taken = seats_taken(line, overdue)
      short = #taken > 0 and { 'seat_taken', line.number, unpack(taken) } or nil
      withheld = withheld or line.withheld
    elseif p.free < line.count then
      lapse(LAPSED_WHEN_SHORT)
      if p.free < line.count then
        if gate.due <= now then
          return { 'again' }
        end
        places_overdue(p, overdue)
        short = { 'sold_out', line.number }
        withheld = withheld or p.withheld > 0
      end
    end
    first = first or short
  end
  if not first then
    return nil
  end
  return (#overdue > 1 and overdue) or (withheld and { 'recovering' }) or first
end
