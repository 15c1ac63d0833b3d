/*
 * ships.h - the module `ship` that scripts are given: objects of the host, named by ids.
 *
 * An id is a Lua integer.  Both have 64 bits, so it costs nothing, is a table's key, can be
 * printed, stored and sent, and equal ids are equal.  A script can make one up, too: then the table
 * says that it names nothing, and the script gets an error.  The host is never harmed by a number.
 *
 * A script that loses an id loses nothing else: the ship sails on, ship.all() finds it, and the
 * host knows how many there are.  Lua's collector has no say in the lives of the host's objects,
 * unless a script asks for it: closed or collected, the userdata ship.owned(id) sinks the ship.
 */
#ifndef LUA_HOST_SHIPS_H
#define LUA_HOST_SHIPS_H

#include <haft/local.h>
#include <lua.h>

struct fleet {
    haft_local *ships;
    uint64_t built;
    uint64_t refused; /* calls with ids that were not live */
};

/* HAFT_OK, or why there is no table. */
haft_status fleet_open(struct fleet *fleet, uint64_t capacity);
void fleet_close(struct fleet *fleet);

/* The global `ship`, whose functions work on `fleet`. */
void fleet_give_to(struct fleet *fleet, lua_State *lua);

#endif /* LUA_HOST_SHIPS_H */
