-- What the live log says after a position.
--
-- KEYS  1 gate  2 customers
-- ARGV  1 epoch  2 the sequence after which  3 most entries
-- Reply {'unavailable'} | {'stale_epoch', active} | {'gap', sequence}
--       {'changes', to, 1 if there is more, indexes of general admission types whose counts changed (a
--       byte each), seats' changes (5 bytes each: type index, state, unit), …}
-- Invariant: lapsed holds are given back first; all of (after, to] is told. General admission has no
-- entries of its own: its counts are where they are.

local LAPSED_AT_ONCE = 200
local key, after, most = base .. 'log', tonumber(ARGV[2]), tonumber(ARGV[3])

local function id(sequence)
  return string.format('%.0f-%.0f', gate.epoch, sequence)
end

-- Whether entries after the position were dropped from the log's old end.
local function is_cut()
  local first = call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  if not first or tonumber(string.match(first[1], '%-(%d+)$')) <= after + 1 then
    return false
  end
  local about, info = {}, call('XINFO', 'STREAM', key)
  for i = 1, #info, 2 do
    about[info[i]] = info[i + 1]
  end
  return about['entries-added'] > about['length']
end

local function counts_changed()
  local indexes = {}
  for index = 1, gate.types do
    local p = gate.names[index] and pool_at(index)
    if p and p.kind == GENERAL and p.changed > after then
      insert(indexes, char(index))
    end
  end
  return concat(indexes)
end

local function entries()
  local reply = { 'changes', gate.seq, 0, counts_changed() }
  local found = call('XRANGE', key, id(after + 1), id(gate.seq), 'COUNT', most)
  for _, entry in ipairs(found) do
    insert(reply, entry[2][2])
  end
  if #found == most then
    local last = tonumber(string.match(found[most][1], '%-(%d+)$'))
    reply[2], reply[3] = last, last < gate.seq and 1 or 0
  end
  return reply
end

local refusal = refused(tonumber(ARGV[1]))
if refusal then
  return refusal
end
lapse(LAPSED_AT_ONCE)
commit()
if after > gate.seq or is_cut() then
  return { 'gap', gate.seq }
end
if after == gate.seq then
  return { 'changes', after, 0, '' }
end
return entries()
