-- The way of nearly every reservation in a rush, in as few steps as Redis allows: general admission,
-- one line, a customer without orders, and neither hold nor sale nor session at its end. Whatever is
-- otherwise leaves this block untouched and goes the long way in reserve.lua, which gives the same
-- answers. No function is defined and no table made before here: each costs a tenth of the whole.
-- KEYS, ARGV and reply: see reserve.lua. Positions are those of HEAD and POOL in prelude.lua.
repeat
  local call, keys, args, struct, string = redis.call, KEYS, ARGV, struct, string
  local parse, sub = struct.unpack, string.sub
  local gate, wish = call('GET', keys[1]), args[1]
  if not gate then
    break
  end
  local id, from, till, types = parse('>I7I6I6B', gate)
  local epoch, session_end, quantity = parse('>I7I6B', wish)
  if id ~= epoch or quantity == 0 then
    break
  end
  local customer = sub(wish, 16, 30)
  if call('HGET', keys[2], customer) then
    break
  end
  local time = call('TIME')
  local now = time[2] / 1000
  now = time[1] * 1000 + now - now % 1
  if now < from or now >= till or now >= session_end then
    break
  end
  local _, at = string.find(gate, args[2], 76 + types * 60, true)
  if not at then
    break
  end
  local pool = 16 + string.byte(gate, at + 2) * 60
  local mark, most, next, held, free = parse('>I4I4I4I4I4', gate, pool)
  if quantity > most then
    break
  end
  if quantity > free then
    -- Past this instant an unpaid order may be keeping what is wanted.
    if now >= parse('>I6', gate, 52) then
      break
    end
    return 'S'
  end
  local due, seq, tail = parse('>I6I6I6', gate, 58)
  local expiry = now + parse('>I4', wish, 63)
  if next + quantity > mark or expiry < tail or due > tail then
    break
  end
  local pack = struct.pack
  local base, serials = sub(keys[2], 1, -10), pack('>I3', next)
  for more = 1, quantity - 1 do
    serials = serials .. pack('>I3', next + more)
  end
  local lapses = pack('>I6', expiry)
  local line = sub(gate, pool + 51, pool + 59) .. sub(wish, 14, 14) .. serials
  call('APPEND', base .. 'slots' .. sub(args[2], 1, -2), string.rep('\1' .. customer, quantity))
  call('HSET', keys[2], customer,
    pack('>H', 45 + #line) .. sub(wish, 31, 62) .. lapses .. '\1\0\0\0\0' .. line)
  call('RPUSH', base .. 'lapses', lapses .. customer)
  seq = pack('>I6', seq + 1)
  call('SETRANGE', keys[1], '63', seq .. lapses .. sub(gate, 76, pool + 7)
    .. pack('>I4I4I4', next + quantity, held + quantity, free - quantity) .. seq)
  return lapses .. line
until true
