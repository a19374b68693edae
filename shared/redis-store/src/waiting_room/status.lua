-- The public state of a line.
-- Reply nil (no such line) or {generation, serving, issued, active, called, waiting, version, cap,
--       grace, session, token}

if not line.generation then
  return nil
end
advance()
local late = call('ZCARD', LATE)
local waiting = line.issued - line.serving - call('SCARD', LEFT) + late
return { line.generation, line.serving, line.issued, call('ZCARD', ACTIVE), call('ZCARD', CALLED),
  waiting, line.version, line.cap, line.grace, line.session, line.token }
