-- forge.lua N - N numbers that are no ids, in every function that takes one; none may be accepted.
local attempts = math.tointeger(tonumber((...))) or 1000000
local ids, live = {}, {}

for i = 1, 64 do
  ids[i] = ship.build("ship " .. i)
end
for i = 1, 32 do
  ship.sink(ids[i])
end
for i = 33, 64 do
  live[ids[i]] = true
end

local takers = {
  ship.sink, ship.name, ship.position, ship.owned,
  function(id) ship.move(id, 1, 1) end,
}

-- Any 64 bits; ids with a bit changed; sunk ships; small numbers.
local function forge(i)
  local kind = i % 4
  if kind == 0 then return math.random(0) end
  if kind == 1 then return ids[math.random(64)] ~ (1 << math.random(0, 63)) end
  if kind == 2 then return ids[math.random(32)] end
  return math.random(0, 100)
end

local reasons = {}
for i = 1, attempts do
  local id = forge(i)
  if not live[id] then
    local ok, message = pcall(takers[i % #takers + 1], id)
    if ok then error("accepted " .. id) end
    local reason = ship.why(id)
    reasons[reason] = (reasons[reason] or 0) + 1
    if i % 64 < 8 then -- what the error says, now and then
      assert(not ship.is_live(id))
      assert(message:match("no ship is .-: (.*)%)$") == reason, message)
    end
  end
end

-- And what is no integer at all.
for _, wrong in ipairs {1.5, 0 / 0, 1e300, "x", "", true, {}, print, io.stdout} do
  for _, take in ipairs(takers) do
    assert(not pcall(take, wrong))
  end
end
for _, take in ipairs(takers) do
  assert(not pcall(take))
end

assert(ship.count() == 32)

-- 1234567 as 1,234,567.
local function grouped(number)
  local text = tostring(number):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (text:gsub("^,", ""))
end

local sorted = {}
for reason, count in pairs(reasons) do
  sorted[#sorted + 1] = string.format("%9s  %s", grouped(count), reason)
end
table.sort(sorted)
print(table.concat(sorted, "\n"))
