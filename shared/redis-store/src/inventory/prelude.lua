-- Shared by the scripts of the inventory; concatenated in front of each when the crate is compiled.
--
-- THE KEYS. E is the event, n the epoch; one hash tag, so one node. KEYS[1] and KEYS[2] of every
-- script are the first two; the others are named here and nowhere else, as a script that gives back
-- lapsed holds can't know beforehand whose they are.
--   {i:E}:gate            string  the epoch, the sale, the live log's end and each type's counts
--   {i:E}:n:customers     hash    customer key (15) -> the customer's orders, one after the other
--   {i:E}:ended           zset    customer key and session key (31) -> when no token of it lives
--   {i:E}:n:slots/T       string  16 bytes a unit: its state, its owner's customer key
--   {i:E}:n:returned/T    set     serials that were issued and came back (general admission)
--   {i:E}:n:seats/T       hash    seat label -> index; labels/T the other way round
--   {i:E}:n:lapses        list    expiry (6) and customer key (15) of holds, first to lapse first
--   {i:E}:n:strays        zset    customer key -> earliest expiry of holds that came out of turn
--   {i:E}:n:dues/T        zset    customer key -> earliest pay-by of the customer's unpaid orders of T
--   {i:E}:n:dues          zset    type index -> earliest pay-by of all unpaid orders of that type
--   {i:E}:n:log           stream  n-sequence -> changes of seats: type index, state, unit (5 bytes)
--
-- INVARIANTS. A unit's slot names a customer exactly when one order of that customer lists the unit
-- (held, live or withdrawn). For each type: free + held + live + withdrawn + withheld = ceiling; in
-- general admission free = ceiling - next + |returned|, and slots end at next. No key has a TTL.
-- Everything is checked before anything is written; each script can run twice.

local call = redis.call
local pack, parse = struct.pack, struct.unpack
local sub, byte, char, rep = string.sub, string.byte, string.char, string.rep
local floor, min, max = math.floor, math.min, math.max
local insert, concat = table.insert, table.concat

local NEVER = 281474976710655 -- as far as six bytes of milliseconds go
local NO_LIMIT = 4294967295
local NOBODY = rep('\0', 15)
local NOTHING = rep('\0', 16)
-- States of a unit. An order that owns units has the state they have.
local FREE, HELD, LIVE, WITHDRAWN, WITHHELD = 0, 1, 2, 3, 4
-- States of an order that owns none. A session that has ended is kept like an order.
local LAPSED, ENDED, SESSION = 4, 5, 6
local COUNT = { [0] = 'free', 'held', 'live', 'withdrawn', 'withheld' }
local GENERAL, SEATS = 0, 1
-- Longer than a stream's records and messages live: a late one must find how its order ended.
local TOMBSTONE = 25 * 3600 * 1000
local LOG_LENGTH = 100000

local clock = call('TIME')
local now = clock[1] * 1000 + floor(clock[2] / 1000)
local customers = KEYS[2]
local base = customers and sub(customers, 1, -10)

-- The gate: head, pools (one for each type, by index), directory (for each type '/name/', a zero byte
-- and the index byte). reserve_fast.lua reads and writes the same bytes by position, and looks for
-- '/name/' anywhere in the directory. It finds a type's own entry or nothing: an index may be a letter's
-- byte or a slash's, but after a name's second slash stands the zero, and after an index a name's first.
local BUILDING = 281474976710656
local HEAD, HEAD_SIZE = '>I7I6I6BBI6I6I4I6I4I4I6I6I6I6', 75
local POOL, POOL_SIZE = '>I4I4I4I4I4I6I4I4I4I4I4I4BBI4I4', 60

local function gate_new(epoch)
  return { epoch = epoch, building = true, switch = 0, opens = 0, closes = 0, limit = 0, version = 0,
    units = 0, orders = 0, types = 0, unpaid = NEVER, due = NEVER, seq = 0, tail = 0,
    raw = rep('\0', HEAD_SIZE), pools = {}, names = {}, indexes = {} }
end

local function gate_read()
  local raw = call('GET', KEYS[1])
  if not raw then
    return nil
  end
  local g, id, _ = { raw = raw, pools = {}, names = {}, indexes = {} }, nil, nil
  id, _, _, g.types, g.switch, g.opens, g.closes, g.limit, g.version, g.units, g.orders, g.unpaid,
    g.due, g.seq, g.tail = parse(HEAD, raw)
  g.building, g.epoch = id >= BUILDING, id % BUILDING
  local directory = sub(raw, HEAD_SIZE + 1 + g.types * POOL_SIZE)
  for name, index in string.gmatch(directory, '/([^/]+)/%z(.)') do
    g.names[byte(index)], g.indexes[name] = name, byte(index)
  end
  return g
end

local gate = gate_read()

-- Why the caller's epoch can't be served; nil if it can.
local function refused(epoch)
  if not gate or gate.building then
    return { 'unavailable' }
  end
  if gate.epoch ~= epoch then
    return { 'stale_epoch', gate.epoch }
  end
end

local function pool_at(index)
  local p = gate.pools[index]
  if not p then
    p = { name = gate.names[index] }
    p.mark, p.most, p.next, p.held, p.free, p.changed, p.ceiling, p.returned, p.live, p.withdrawn,
      p.withheld, p.limit, p.kind, p.index, p.amount, p.version =
      parse(POOL, gate.raw, HEAD_SIZE + 1 + (index - 1) * POOL_SIZE)
    gate.pools[index] = p
  end
  return p
end

local function pool_named(name)
  local index = gate and gate.indexes[name]
  return index and pool_at(index)
end

-- The most units reserve_fast.lua may give at once without a closer look; 0 where it may give none.
local function most_of(p)
  if p.kind ~= GENERAL or p.withheld > 0 then
    return 0
  end
  return min(p.limit > 0 and p.limit or NO_LIMIT, gate.limit > 0 and gate.limit or NO_LIMIT)
end

local function pool_bytes(index)
  local p = gate.pools[index]
  if not p then
    local first = HEAD_SIZE + 1 + (index - 1) * POOL_SIZE
    return sub(gate.raw, first, first + POOL_SIZE - 1)
  end
  return pack(POOL, p.mark, most_of(p), p.next, p.held, p.free, p.changed, p.ceiling, p.returned,
    p.live, p.withdrawn, p.withheld, p.limit, p.kind, p.index, p.amount, p.version)
end

local function gate_write()
  local g = gate
  -- Between these two instants a reservation has nothing to give back and nothing to refuse. Orders that
  -- were not paid in time keep nobody from what is free: reserve_fast.lua looks for them where nothing is.
  local from = g.switch == 1 and g.opens or NEVER
  local till = min(g.closes, g.due)
  local parts = { pack(HEAD, g.epoch + (g.building and BUILDING or 0), from, till, g.types, g.switch,
    g.opens, g.closes, g.limit, g.version, g.units, g.orders, g.unpaid, g.due, g.seq, g.tail) }
  for index = 1, g.types do
    insert(parts, pool_bytes(index))
  end
  for index = 1, g.types do
    if g.names[index] then
      insert(parts, '/' .. g.names[index] .. '/\0' .. char(index))
    end
  end
  call('SET', KEYS[1], concat(parts))
end

-- A customer's orders. An order: order and print (16 bytes each), expiry (of a hold; of an unpaid
-- order its pay-by, 0 if there is none; of a tombstone when it ended), state, version (0: never
-- settled), lines of {index, amount, version, units}.
local books = {}

local function line_read(blob, at)
  local line, count = { units = {} }, nil
  line.index, line.amount, line.version, count, at = parse('>BI4I4B', blob, at)
  for i = 1, count do
    line.units[i], at = parse('>I3', blob, at)
  end
  return line, at
end

local function book_of(customer)
  local book = books[customer]
  if book then
    return book
  end
  book = {}
  books[customer] = book
  local blob, at = call('HGET', customers, customer) or '', 1
  while at <= #blob do
    local order, length, line, next = { lines = {} }, nil, nil, nil
    length, order.order, order.print, order.expiry, order.state, order.version, next =
      parse('>Hc16c16I6BI4', blob, at)
    at = at + length
    while next < at do
      line, next = line_read(blob, next)
      insert(order.lines, line)
    end
    local keep = (order.state == SESSION and 0) or (order.state >= LAPSED and TOMBSTONE) or NEVER
    if order.expiry + keep > now then
      insert(book, order)
    end
  end
  return book
end

local function lines_bytes(lines)
  local parts = {}
  for _, line in ipairs(lines) do
    insert(parts, pack('>BI4I4B', line.index, line.amount, line.version, #line.units))
    for _, unit in ipairs(line.units) do
      insert(parts, pack('>I3', unit))
    end
  end
  return concat(parts)
end

local function book_write(customer, book)
  local parts = {}
  for _, order in ipairs(book) do
    local lines = lines_bytes(order.lines)
    insert(parts, pack('>Hc16c16I6BI4', 45 + #lines, order.order, order.print, order.expiry,
      order.state, order.version) .. lines)
  end
  if #parts == 0 then
    call('HDEL', customers, customer)
  else
    call('HSET', customers, customer, concat(parts))
  end
end

local function order_of(customer, id)
  for _, order in ipairs(book_of(customer)) do
    if order.order == id and order.state ~= SESSION then
      return order
    end
  end
end

-- The one order of the unit's owner that lists it.
local function order_with(p, unit, owner)
  for _, order in ipairs(book_of(owner)) do
    for _, line in ipairs(order.lines) do
      if line.index == p.index then
        for _, has in ipairs(line.units) do
          if has == unit then
            return order
          end
        end
      end
    end
  end
end

local changes = {}

local function unit_read(p, unit)
  local slot = call('GETRANGE', base .. 'slots/' .. p.name, unit * 16, unit * 16 + 15)
  if #slot < 16 then
    return FREE, NOBODY
  end
  return byte(slot), sub(slot, 2)
end

-- Issues or recalls a serial that was free.
local function serial_take(p, serial)
  local key = base .. 'returned/' .. p.name
  if serial < p.next then
    call('SREM', key, serial)
    p.returned = p.returned - 1
    return
  end
  for between = p.next, serial - 1 do
    call('SADD', key, between)
    p.returned = p.returned + 1
  end
  p.next = serial + 1
end

-- The only place where a unit changes hands (but for reserve_fast.lua).
local function unit_write(p, unit, was, state, owner)
  if p.kind == SEATS then
    insert(changes, pack('>BBI3', p.index, state, unit))
  elseif was == FREE then
    serial_take(p, unit)
  elseif state == FREE then
    call('SADD', base .. 'returned/' .. p.name, unit)
    p.returned = p.returned + 1
  end
  call('SETRANGE', base .. 'slots/' .. p.name, unit * 16, char(state) .. owner)
  p[COUNT[was]] = p[COUNT[was]] - 1
  p[COUNT[state]] = p[COUNT[state]] + 1
  p.dirty = true
end

-- Frees what the order owns, and makes it a tombstone.
local function order_end(customer, order, state, expiry)
  for _, line in ipairs(order.lines) do
    local p = pool_at(line.index)
    for _, unit in ipairs(line.units) do
      unit_write(p, unit, order.state, FREE, NOBODY)
    end
  end
  order.state, order.expiry, order.lines = state, expiry, {}
  book_of(customer).dirty = true
end

local function is_lapsed(order)
  return order.state == HELD and order.expiry <= now
end

local function customer_lapse(customer)
  for _, order in ipairs(book_of(customer)) do
    if is_lapsed(order) then
      order_end(customer, order, LAPSED, order.expiry)
    end
  end
end

-- Holds last equally long, so a list keeps them in the order they lapse in. One that would stand out
-- of turn (the hold time was shortened, the clock went back) goes to the strays instead.
local function hold_enqueue(customer, expiry)
  if expiry >= gate.tail then
    call('RPUSH', base .. 'lapses', pack('>I6', expiry) .. customer)
    gate.tail = expiry
  else
    call('ZADD', base .. 'strays', 'LT', expiry, customer)
  end
  gate.due, gate.dirty = min(gate.due, expiry), true
end

local function due_refresh()
  local head = call('LINDEX', base .. 'lapses', 0)
  local stray = call('ZRANGE', base .. 'strays', 0, 0, 'WITHSCORES')
  local due = min(head and parse('>I6', head) or NEVER, tonumber(stray[2]) or NEVER)
  if not head then
    gate.tail = 0
  end
  gate.due, gate.dirty = due, true
end

local function strays_lapse(most)
  local key = base .. 'strays'
  for _, customer in ipairs(call('ZRANGEBYSCORE', key, 0, now, 'LIMIT', 0, most)) do
    customer_lapse(customer)
    call('ZREM', key, customer)
    for _, order in ipairs(book_of(customer)) do
      if order.state == HELD then
        call('ZADD', key, 'LT', order.expiry, customer)
      end
    end
  end
end

-- Gives back lapsed holds, at most so many.
local function lapse(most)
  if gate.due > now then
    return
  end
  local passed = 0
  for _, entry in ipairs(call('LRANGE', base .. 'lapses', 0, most - 1)) do
    if parse('>I6', entry) > now then
      break
    end
    customer_lapse(sub(entry, 7))
    passed = passed + 1
  end
  if passed > 0 then
    call('LTRIM', base .. 'lapses', passed, -1)
  end
  strays_lapse(most)
  due_refresh()
end

-- Writes what was changed. Every script ends with this.
local function commit()
  for customer, book in pairs(books) do
    if book.dirty then
      book_write(customer, book)
    end
  end
  local moved = false
  for _, p in pairs(gate and gate.pools or {}) do
    if p.dirty then
      p.changed, moved = gate.seq + 1, true
    end
  end
  if moved then
    gate.seq, gate.dirty = gate.seq + 1, true
  end
  if #changes > 0 then
    call('XADD', base .. 'log', 'MAXLEN', '~', LOG_LENGTH,
      string.format('%.0f-%.0f', gate.epoch, gate.seq), 'c', concat(changes))
  end
  if gate and gate.dirty then
    gate_write()
  end
end

-- The counts of every type: {{type, ceiling, free, held, live, withdrawn}, …}.
local function counts_reply()
  local reply = {}
  for index = 1, gate.types do
    local p = gate.names[index] and pool_at(index)
    if p then
      insert(reply, { p.name, p.ceiling, p.free, p.held, p.live, p.withdrawn })
    end
  end
  return reply
end

-- Indexes of seats by their labels, 0 where there is none... as in HMGET: false.
local function seats_find(p, labels)
  return call('HMGET', base .. 'seats/' .. p.name, unpack(labels))
end

-- An order's lines as a reply: {{type, amount, version, kind, unit, ...}, ...}.
local function lines_reply(lines)
  local reply = {}
  for _, line in ipairs(lines) do
    local p = pool_at(line.index)
    local one = { p.name, line.amount, line.version, p.kind }
    local units = line.units
    if p.kind == SEATS and #units > 0 then
      units = call('HMGET', base .. 'labels/' .. p.name, unpack(units))
    end
    for _, unit in ipairs(units) do
      insert(one, unit)
    end
    insert(reply, one)
  end
  return reply
end
