/* A module over haft_kit.hpp, and so haft.hpp, whose templates are compiled where they are used. */
module;
#include "haft_kit.hpp"
export module wrapped;

export namespace haft
{
using haft::domain;
using haft::id;
using haft::local;
using haft::packed;
using haft::table;
using haft::view;
} // namespace haft

export using ::haft_status;
export using ::haft_status_text;

export inline haft::local<int> local_of(unsigned capacity)
{
    auto opened = haft::local<int>::open(capacity);

    return std::move(*opened);
}
