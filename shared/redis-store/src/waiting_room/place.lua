-- A customer's place.
-- Reply nil (no such line), {} (no place), or a place reply

if not line.generation then
  return nil
end
advance()
local place = place_read(ARGV[1])
if not place then
  return {}
end
return place_reply(place)
