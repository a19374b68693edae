-- Begins a line where there is none, or sets how the line that is there works.
-- ARGV  1 version  2 generation of a line that is begun  3 cap  4 grace ms  5 session ms  6 token ms
-- Reply 1 applied, 0 ignored (the line has this version of the settings, or a newer one)
-- Invariant: a line that is there keeps its generation, its places and its numbers.

if line.generation and tonumber(ARGV[1]) <= line.version then
  return 0
end
if not line.generation then
  call('HSET', CONTROL, 'generation', ARGV[2], 'issued', 0, 'serving', 0, 'turn', 'line')
end
call('HSET', CONTROL, 'version', ARGV[1], 'cap', ARGV[3], 'grace', ARGV[4], 'session', ARGV[5],
  'token', ARGV[6])
return 1
