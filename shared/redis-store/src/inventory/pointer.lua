-- Which inventory the event has.
--
-- KEYS  1 gate
-- Reply {} or {epoch, 1 if it is being built}

if not gate then
  return {}
end
return { gate.epoch, gate.building and 1 or 0 }
