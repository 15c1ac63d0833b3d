/*
 * haft/kit/kit.hpp - the kit for C++17, with haft/haft.hpp, whose rules hold here too.  Programs
 * include this header alone.  What there is, in haft/kit/detail/:
 *
 *   packed.hpp              haft::packed<T>
 *   history.hpp             haft::history, the last states of a local or packed table: snapshot(),
 *                           rewind(), clone(), save(), load()
 *   restore.hpp             restore() and its kin: ids of a haft::local that are chosen elsewhere
 *   side.hpp                haft::side<V, T>: values of V under the ids of a table of T
 *   arena.hpp               haft::arena
 */
#ifndef HAFT_KIT_KIT_HPP
#define HAFT_KIT_KIT_HPP

#include <haft/haft.hpp>
#include <haft/kit/detail/arena.hpp>
#include <haft/kit/detail/history.hpp>
#include <haft/kit/detail/packed.hpp>
#include <haft/kit/detail/restore.hpp>
#include <haft/kit/detail/side.hpp>
#include <haft/kit/kit.h>

#endif // HAFT_KIT_KIT_HPP
