-- Sets how a line works. A higher generation starts it anew: all places are gone, numbers begin at 1.
-- ARGV  1 version  2 generation  3 cap  4 grace ms  5 session ms  6 token ms
-- Reply 1 applied, 0 ignored (an older generation, or a version that is not newer)

local version, generation = tonumber(ARGV[1]), tonumber(ARGV[2])
if line.generation and generation < line.generation then
  return 0
end
if line.generation == generation and version <= line.version then
  return 0
end
if line.generation ~= generation then
  call('UNLINK', CONTROL, PLACES, CALLED, ACTIVE, LEFT, LATE)
  call('HSET', CONTROL, 'generation', ARGV[2], 'issued', 0, 'serving', 0, 'turn', 'line')
end
call('HSET', CONTROL, 'version', ARGV[1], 'cap', ARGV[3], 'grace', ARGV[4], 'session', ARGV[5],
  'token', ARGV[6])
return 1
