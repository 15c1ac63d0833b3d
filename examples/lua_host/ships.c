#include "ships.h"
#include <haft/view.h>
#include <lauxlib.h>
#include <stdio.h>

struct ship {
    char name[32];
    lua_Number x, y;
};

#define OWNED "ship.owned"

haft_status fleet_open(struct fleet *fleet, uint64_t capacity)
{
    const haft_local_options options = {
        .name = "ships", .capacity = capacity, .object_size = sizeof(struct ship)};

    *fleet = (struct fleet){.ships = NULL};
    return haft_local_open(&options, &fleet->ships);
}

void fleet_close(struct fleet *fleet)
{
    haft_local_close(fleet->ships);
}

/* --- from Lua's values to the host's, and back --- */

static struct fleet *fleet_of(lua_State *lua)
{
    return lua_touserdata(lua, lua_upvalueindex(1));
}

static haft_id to_id(lua_State *lua, int argument)
{
    const haft_id id = {(uint64_t)luaL_checkinteger(lua, argument)};

    return id;
}

static void push_id(lua_State *lua, haft_id id)
{
    lua_pushinteger(lua, (lua_Integer)id.bits);
}

/* Raises an error that says what is wrong with the id. */
static int refuse(lua_State *lua, int argument, haft_id id, haft_status status)
{
    struct fleet *fleet = fleet_of(lua);
    char text[HAFT_ID_TEXT_SIZE];

    fleet->refused++;
    haft_id_format(haft_local_info(fleet->ships).layout, id, text, sizeof text);
    return luaL_argerror(lua, argument,
                         lua_pushfstring(lua, "no ship is %s: %s", text, haft_status_text(status)));
}

/* The ship that an argument names; without one, there is an error instead. */
static struct ship *to_ship(lua_State *lua, int argument)
{
    const struct fleet *fleet = fleet_of(lua);
    const haft_id id = to_id(lua, argument);
    struct ship *ship = haft_resolve(haft_local_view(fleet->ships), id);

    if (ship == NULL) {
        refuse(lua, argument, id, haft_local_diagnose(fleet->ships, id));
    }
    return ship;
}

/* --- the functions --- */

/* ship.build(name, x, y) -> id */
static int build(lua_State *lua)
{
    struct fleet *fleet = fleet_of(lua);
    struct ship ship = {.x = luaL_optnumber(lua, 2, 0), .y = luaL_optnumber(lua, 3, 0)};
    haft_id id;

    snprintf(ship.name, sizeof ship.name, "%s", luaL_checkstring(lua, 1));
    const haft_status status = haft_local_insert(fleet->ships, &ship, &id);

    if (status != HAFT_OK) {
        return luaL_error(lua, "no ship was built: %s", haft_status_text(status));
    }
    fleet->built++;
    push_id(lua, id);
    return 1;
}

/* ship.sink(id) */
static int sink(lua_State *lua)
{
    struct fleet *fleet = fleet_of(lua);
    const haft_id id = to_id(lua, 1);
    const haft_status status = haft_local_free(fleet->ships, id);

    return status == HAFT_OK ? 0 : refuse(lua, 1, id, status);
}

/* ship.name(id) -> string */
static int name(lua_State *lua)
{
    lua_pushstring(lua, to_ship(lua, 1)->name);
    return 1;
}

/* ship.position(id) -> x, y */
static int position(lua_State *lua)
{
    const struct ship *ship = to_ship(lua, 1);

    lua_pushnumber(lua, ship->x);
    lua_pushnumber(lua, ship->y);
    return 2;
}

/* ship.move(id, dx, dy).  The arguments first: what raises an error must not come in between. */
static int move(lua_State *lua)
{
    const lua_Number dx = luaL_checknumber(lua, 2);
    const lua_Number dy = luaL_checknumber(lua, 3);
    struct ship *ship = to_ship(lua, 1);

    ship->x += dx;
    ship->y += dy;
    return 0;
}

/* ship.is_live(id) -> boolean */
static int is_live(lua_State *lua)
{
    lua_pushboolean(lua, haft_is_live(haft_local_view(fleet_of(lua)->ships), to_id(lua, 1)));
    return 1;
}

/* ship.why(id) -> string: what the table says of it */
static int why(lua_State *lua)
{
    const haft_status status = haft_local_diagnose(fleet_of(lua)->ships, to_id(lua, 1));

    lua_pushstring(lua, haft_status_text(status));
    return 1;
}

/* ship.text(id) -> string, such as "17v3" */
static int text(lua_State *lua)
{
    char buffer[HAFT_ID_TEXT_SIZE];

    haft_id_format(haft_local_info(fleet_of(lua)->ships).layout, to_id(lua, 1), buffer,
                   sizeof buffer);
    lua_pushstring(lua, buffer);
    return 1;
}

/* ship.count() -> integer */
static int count(lua_State *lua)
{
    lua_pushinteger(lua, (lua_Integer)haft_local_count(fleet_of(lua)->ships));
    return 1;
}

/* ship.all() -> a list of ids */
static int all(lua_State *lua)
{
    haft_run run = haft_run_over(haft_local_view(fleet_of(lua)->ships), HAFT_EVERYTHING);
    haft_id id;
    void *ship;

    lua_newtable(lua);
    for (lua_Integer i = 1; haft_run_next(&run, &id, &ship); i++) {
        push_id(lua, id);
        lua_rawseti(lua, -2, i);
    }
    return 1;
}

/* --- ships that go with a value --- */

/* ship.owned(id) -> userdata */
static int owned(lua_State *lua)
{
    to_ship(lua, 1);
    haft_id *held = lua_newuserdatauv(lua, sizeof *held, 0);

    *held = to_id(lua, 1);
    luaL_setmetatable(lua, OWNED);
    return 1;
}

/* __gc and __close; once more, or after another script sank it, the id is stale: no effect. */
static int let_go(lua_State *lua)
{
    const haft_id *held = luaL_checkudata(lua, 1, OWNED);

    haft_local_free(fleet_of(lua)->ships, *held);
    return 0;
}

/* owned() -> id */
static int held_id(lua_State *lua)
{
    push_id(lua, *(const haft_id *)luaL_checkudata(lua, 1, OWNED));
    return 1;
}

void fleet_give_to(struct fleet *fleet, lua_State *lua)
{
    static const luaL_Reg functions[] = {
        {"build", build}, {"sink", sink}, {"name", name},   {"position", position},
        {"move", move},   {"why", why},   {"text", text},   {"is_live", is_live},
        {"count", count}, {"all", all},   {"owned", owned}, {NULL, NULL},
    };
    static const luaL_Reg of_owned[] = {
        {"__gc", let_go},
        {"__close", let_go},
        {"__call", held_id},
        {NULL, NULL},
    };

    luaL_newmetatable(lua, OWNED);
    lua_pushliteral(lua, "a ship's owner"); /* scripts cannot change how it ends */
    lua_setfield(lua, -2, "__metatable");
    lua_pushlightuserdata(lua, fleet);
    luaL_setfuncs(lua, of_owned, 1);
    lua_pop(lua, 1);
    luaL_newlibtable(lua, functions);
    lua_pushlightuserdata(lua, fleet);
    luaL_setfuncs(lua, functions, 1);
    lua_setglobal(lua, "ship");
}
