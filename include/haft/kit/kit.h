/*
 * haft/kit/kit.h - all C headers of the kit, with haft/haft.h: what not every user of a handle
 * table needs.
 *
 *   one thread, no system     packed.h, arena.h, snapshot.h, restore.h; side.h of a haft_local
 *   shared tables             commands.h, export.h; side.h of a haft_table
 *
 * C++ programs may take haft/kit/kit.hpp instead.
 */
#ifndef HAFT_KIT_KIT_H
#define HAFT_KIT_KIT_H

#include <haft/haft.h>
#include <haft/kit/arena.h>
#include <haft/kit/commands.h>
#include <haft/kit/export.h>
#include <haft/kit/packed.h>
#include <haft/kit/restore.h>
#include <haft/kit/side.h>
#include <haft/kit/snapshot.h>
#include <haft/kit/status.h>
#include <haft/kit/typed.h>

#endif /* HAFT_KIT_KIT_H */
