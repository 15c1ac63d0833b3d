-- stale.lua - a script that uses a ship after it has sunk: an error that says so, and where.
local id = ship.build("Vasa")

ship.sink(id)
ship.move(id, 1, 0)
