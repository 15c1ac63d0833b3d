/*
 * haft/haft.h - all of haft's C headers at once.
 *
 * Each header can be included alone and says in its first lines what it is for; README.md has them
 * by purpose.  C++ programs may take haft/haft.hpp instead.
 */
#ifndef HAFT_HAFT_H
#define HAFT_HAFT_H

#include <haft/allocator.h>
#include <haft/arena.h>
#include <haft/atomics.h>
#include <haft/bad_access.h>
#include <haft/commands.h>
#include <haft/counted.h>
#include <haft/domain.h>
#include <haft/explain.h>
#include <haft/export.h>
#include <haft/fill.h>
#include <haft/fork.h>
#include <haft/id.h>
#include <haft/implicit.h>
#include <haft/local.h>
#include <haft/local_front.h>
#include <haft/many.h>
#include <haft/packed.h>
#include <haft/pin.h>
#include <haft/places.h>
#include <haft/recycle.h>
#include <haft/ref.h>
#include <haft/require.h>
#include <haft/restore.h>
#include <haft/run.h>
#include <haft/scan.h>
#include <haft/section.h>
#include <haft/share.h>
#include <haft/status.h>
#include <haft/table.h>
#include <haft/trim.h>
#include <haft/tsan.h>
#include <haft/typed.h>
#include <haft/typed_local.h>
#include <haft/typed_packed.h>
#include <haft/typed_table.h>
#include <haft/unregistered.h>
#include <haft/version.h>
#include <haft/view.h>
#include <haft/worker.h>

#endif /* HAFT_HAFT_H */
