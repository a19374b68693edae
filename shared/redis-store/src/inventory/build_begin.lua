-- Begins to build an epoch. From here on nothing is sold until it is activated.
--
-- KEYS  1 gate
-- ARGV  1 epoch
-- Reply 1: this epoch is being built; 0: a higher one is, or this one sells already
-- Invariant: epochs only grow. What older ones left behind is dropped here: it decides nothing any
-- more, and without a TTL it would stay for ever.

local function drop(old)
  local before = sub(KEYS[1], 1, -5) .. string.format('%.0f', old.epoch) .. ':'
  for _, part in ipairs({ 'customers', 'lapses', 'strays', 'dues', 'log' }) do
    call('UNLINK', before .. part)
  end
  for name in pairs(old.indexes) do
    for _, part in ipairs({ 'slots/', 'returned/', 'seats/', 'labels/', 'dues/' }) do
      call('UNLINK', before .. part .. name)
    end
  end
end

local epoch = tonumber(ARGV[1])
if gate and (gate.epoch > epoch or (gate.epoch == epoch and not gate.building)) then
  return 0
end
if gate and gate.epoch == epoch then
  return 1
end
if gate then
  drop(gate)
end
gate = gate_new(epoch)
gate_write()
return 1
