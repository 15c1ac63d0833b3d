/* lua_host - runs Lua scripts, which are given ids of the host's objects and never pointers. */
#include "examples/screen/output.h"
#include "examples/screen/text.h"
#include "ships.h"
#include <getopt.h>
#include <jansson.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_RAN, EXIT_SCRIPT, EXIT_REFUSED, EXIT_SYSTEM };

static const char help[] =
    "Usage: lua_host [OPTION...] SCRIPT [ARGUMENT...]\n"
    "\n"
    "Runs a Lua script.  Its ships are the host's objects; the script has their ids,\n"
    "which are integers:\n"
    "\n"
    "  ship.build(name, x, y)  -> id          ship.sink(id)\n"
    "  ship.name(id)           -> string      ship.move(id, dx, dy)\n"
    "  ship.position(id)       -> x, y        ship.is_live(id) -> boolean\n"
    "  ship.why(id)            -> string: what is to be said of an id\n"
    "  ship.text(id)           -> string, such as 17v3\n"
    "  ship.count(), ship.all()               how many there are; a list of their ids\n"
    "  ship.owned(id)          -> a value that sinks its ship when it is collected or\n"
    "                             closed; called, it gives the id\n"
    "\n"
    "A function that is given an id of no ship raises an error that says why.  A ship\n"
    "whose id is lost is still there.\n"
    "\n"
    "Options, before the script:\n"
    "  --capacity N  ships that fit, 1 to 1000000 (default: 1000)\n"
    "  --json        at the end, the objects there are, as JSON\n"
    "  --help        print this\n"
    "\n"
    "Exit status: 0 if the script ran to its end, 1 if it raised an error, 2 if the\n"
    "options are not acceptable, 3 if the system gave no memory or took no output.\n"
    "\n"
    "Examples:\n"
    "  lua_host examples/lua/fleet.lua\n"
    "  lua_host --json examples/lua/forge.lua 1000000\n";

struct options {
    uint64_t capacity;
    bool json;
    const char *script;
    char **arguments; /* the script's, up to a NULL */
};

static void refuse(const char *message)
{
    fprintf(stderr, "lua_host: %s; --help says more\n", message);
    exit(EXIT_REFUSED);
}

static uint64_t parse_capacity(const char *text)
{
    char *end;
    const long number = strtol(text, &end, 10);

    if (end == text || *end != '\0' || number < 1 || number > 1000000) {
        char message[100];

        snprintf(message, sizeof message, "--capacity must be from 1 to 1000000, not '%.40s'",
                 text);
        refuse(message);
    }
    return (uint64_t)number;
}

static struct options parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"capacity", required_argument, NULL, 'c'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct options options = {.capacity = 1000};
    int option;

    while ((option = getopt_long(argc, argv, "+h", known, NULL)) != -1) {
        switch (option) {
        case 'c':
            options.capacity = parse_capacity(optarg);
            break;
        case 'j':
            options.json = true;
            break;
        case 'h':
            print_help("lua_host", help);
        default: /* getopt_long has said what is wrong */
            fputs("lua_host: --help says more\n", stderr);
            exit(EXIT_REFUSED);
        }
    }
    if (optind == argc) {
        refuse("which script?");
    }
    options.script = argv[optind];
    options.arguments = argv + optind + 1;
    return options;
}

/* Adds where the error came from. */
static int trace(lua_State *lua)
{
    luaL_traceback(lua, lua, luaL_tolstring(lua, 1, NULL), 1);
    return 1;
}

static bool run_script(lua_State *lua, const struct options *options)
{
    int arguments = 0;

    lua_pushcfunction(lua, trace);
    if (luaL_loadfile(lua, options->script) != LUA_OK) {
        return false;
    }
    for (; options->arguments[arguments] != NULL; arguments++) {
        luaL_checkstack(lua, 1, "too many arguments");
        lua_pushstring(lua, options->arguments[arguments]);
    }
    return lua_pcall(lua, arguments, 0, 1) == LUA_OK;
}

/* In protected mode: what fails here is an error of the script's, too. */
static int run(lua_State *lua)
{
    const struct options *options = lua_touserdata(lua, 1);
    struct fleet *fleet = lua_touserdata(lua, 2);

    lua_settop(lua, 0);
    luaL_openlibs(lua);
    fleet_give_to(fleet, lua);
    return run_script(lua, options) ? 0 : lua_error(lua);
}

static void report(const struct options *options, const struct fleet *fleet)
{
    const uint64_t left = haft_local_count(fleet->ships);

    if (options->json) {
        json_t *object = json_pack("{s:I,s:I,s:I}", "built", (json_int_t)fleet->built, "left",
                                   (json_int_t)left, "refused", (json_int_t)fleet->refused);

        json_dumpf(object, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(object);
    } else {
        printf("%s built, %s left; %s id%s refused\n", grouped(fleet->built), grouped(left),
               grouped(fleet->refused), plural(fleet->refused));
    }
}

int main(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct fleet fleet;
    lua_State *lua = luaL_newstate();

    if (lua == NULL || fleet_open(&fleet, options.capacity) != HAFT_OK) {
        fputs("lua_host: no memory\n", stderr);
        return EXIT_SYSTEM;
    }
    lua_pushcfunction(lua, run);
    lua_pushlightuserdata(lua, &options);
    lua_pushlightuserdata(lua, &fleet);
    const bool ran = lua_pcall(lua, 2, 0, 0) == LUA_OK;

    if (!ran) {
        const char *message = lua_tostring(lua, -1);

        fprintf(stderr, "lua_host: %s\n", message != NULL ? message : "an error without a message");
    }
    report(&options, &fleet);
    lua_close(lua); /* sinks the ships that are owned */
    fleet_close(&fleet);
    return end_output("lua_host", ran ? EXIT_RAN : EXIT_SCRIPT, EXIT_SYSTEM);
}
