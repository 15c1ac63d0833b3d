/*
 * haft/haft.hpp - haft for C++17: tables of objects with constructors and destructors, ids that
 * know their type, and everything closed at the end of its scope.
 *
 *   auto domain = haft::domain::open(HAFT_CLOCK_CALLER, urcu_memb_flavor);
 *   auto ships = haft::table<ship>::open(*domain, 1000);
 *   auto worker = ships->open_worker();
 *   auto id = worker->emplace("Beagle", 7);
 *   {
 *       haft::read_section section(*domain);
 *       if (ship *found = ships->resolve(*id)) { ... }
 *   }
 *   worker->free(*id);      ~ship() runs when no section can see it any more
 *
 * These headers are a layer of inline functions over the C ones, which they include: as fast, and
 * with the same contracts.  What can fail returns a haft::result or a haft_status.  They need
 * neither exceptions nor run-time type information, and pass on what constructors throw.
 */
#ifndef HAFT_HAFT_HPP
#define HAFT_HAFT_HPP

#include <haft/arena.hpp>
#include <haft/domain.hpp>
#include <haft/haft.h>
#include <haft/id.hpp>
#include <haft/local.hpp>
#include <haft/packed.hpp>
#include <haft/pin.hpp>
#include <haft/result.hpp>
#include <haft/table.hpp>
#include <haft/view.hpp>
#include <haft/worker.hpp>

#endif // HAFT_HAFT_HPP
