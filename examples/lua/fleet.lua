-- fleet.lua - ships are built, passed around, kept in tables, sunk and lost.

local function convoy(escort, ...)
  return {escort = escort, freighters = {...}}
end

-- Create and pass: an id is a number, so a table can hold it and be keyed by it.
local north = convoy(ship.build("Aurora", 0, 0), ship.build("Baltic"), ship.build("Carina", 3, 4))
local orders = {[north.escort] = "lead"}
for _, freighter in ipairs(north.freighters) do
  orders[freighter] = "follow"
  ship.move(freighter, 1, 2)
end
print(ship.name(north.freighters[2]), ship.position(north.freighters[2]))

-- Store: what was kept elsewhere notices the end of a ship by itself.
ship.sink(north.escort)
print(orders[north.escort], ship.is_live(north.escort), ship.why(north.escort))
local ok, message = pcall(ship.move, north.escort, 1, 1)
print(ok, message)

-- The slot has a new ship; the old id does not name it.
local successor = ship.build("Delphin")
print(ship.text(north.escort), ship.text(successor), ship.is_live(north.escort))

-- Lose: the ids are gone, the ships are not.
north, orders, successor = nil, nil, nil
collectgarbage()
print(ship.count() .. " ships are still there:")
for _, id in ipairs(ship.all()) do
  print("", ship.name(id))
end

-- Unless a value owns its ship.
do
  local raft <close> = ship.owned(ship.build("Raft"))
  print(ship.name(raft()), ship.count())
end
ship.owned(ship.build("Dinghy"))
collectgarbage()
print("without those that were owned: " .. ship.count())
