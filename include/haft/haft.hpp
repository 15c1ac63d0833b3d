/*
 * haft/haft.hpp - haft for C++17: tables of objects with constructors and destructors, ids that
 * know their type, and everything closed at the end of its scope.
 *
 *   auto domain = haft::domain::open(HAFT_CLOCK_CALLER, haft_urcu_memb());   // haft/urcu.h
 *   auto ships = haft::table<ship>::open(*domain, 1000);
 *   auto worker = ships->open_worker();
 *   auto id = worker->emplace("Beagle", 7);
 *   const haft::registered_thread registered(*domain);
 *   {
 *       haft::read_section section(*domain);
 *       if (ship *found = ships->resolve(*id)) { ... }
 *   }
 *   worker->free(*id);      ~ship() runs when no section can see it any more
 *
 * It is a layer of inline functions over the C headers, which it includes: as fast, and with the
 * same contracts.  What can fail returns a haft::result or a haft_status.  It needs neither
 * exceptions nor run-time type information, and passes on what constructors throw.  For what has no
 * member here, such as haft_trim(): untyped() is the C library's pointer, of every class that owns.
 *
 * open() is the C function of its class.  Size, alignment and pins may be left 0 in the options;
 * where they are not T's: HAFT_BAD_OBJECT_SIZE, HAFT_BAD_OBJECT_ALIGNMENT, HAFT_BAD_PINS.  Where
 * ~T() does something, it takes the place of on_destroy or on_reclaim, which must be NULL then.
 *
 * Programs include this header alone.  What there is, in haft/detail/:
 *
 *   table.hpp, worker.hpp   haft::table<T>, haft::worker<T>
 *   counted.hpp             haft::counted<T>, for any thread; haft::holder<T>
 *   local.hpp               haft::local<T>
 *   id.hpp, view.hpp        haft::id<T>; haft::view<T>, which resolves, and scans
 *   domain.hpp              haft::domain, haft::read_section, haft::registered_thread, and so on
 *   pin.hpp                 haft::pin<T>
 *   result.hpp, owner.hpp   haft::result<T>; what owners have in common
 */
#ifndef HAFT_HAFT_HPP
#define HAFT_HAFT_HPP

#include <haft/detail/counted.hpp>
#include <haft/detail/domain.hpp>
#include <haft/detail/id.hpp>
#include <haft/detail/local.hpp>
#include <haft/detail/owner.hpp>
#include <haft/detail/pin.hpp>
#include <haft/detail/result.hpp>
#include <haft/detail/table.hpp>
#include <haft/detail/view.hpp>
#include <haft/detail/worker.hpp>
#include <haft/haft.h>

#endif // HAFT_HAFT_HPP
