/*
 * haft/detail/domain.hpp - haft::domain, and what a thread does with it, as objects that undo what
 * they did when they go out of scope: haft::registered_thread, haft::read_section, haft::job,
 * haft::parked, haft::offline.
 *
 * Each function is one call of the function of its name in haft/domain.h, whose contract
 * holds.
 */
#ifndef HAFT_DETAIL_DOMAIN_HPP
#define HAFT_DETAIL_DOMAIN_HPP

#include <haft/detail/owner.hpp>
#include <haft/domain.h>

namespace haft
{

/*
 * domain - a grace-period clock.  Its tables end before it does.  Moved-from and closed ones are
 * empty: they may be tested, assigned to, closed and destroyed.
 *
 * The destructor, and an assignment to one that is open, close it.  Where haft_domain_close() says
 * no, the domain stays open for ever: a line on stderr says so, and debug builds assert.  close()
 * answers.
 */
class domain : public detail::owner<haft_domain, detail::telling_closer<haft_domain_close>>
{
  public:
    domain() noexcept = default;

    static result<domain> open(const haft_domain_options &options) noexcept
    {
        haft_domain *opened;
        const haft_status status = haft_domain_open(&options, &opened);

        return status == HAFT_OK ? result<domain>(domain(opened)) : status;
    }
    /* The workers or the frame clock. */
    static result<domain> open(haft_clock clock = HAFT_CLOCK_WORKERS) noexcept
    {
        haft_domain_options options = {};

        options.clock = clock;
        return open(options);
    }
    /* The thread or the caller clock, with a foreign one such as haft_urcu_memb(). */
    static result<domain> open(haft_clock clock, const haft_foreign_clock *foreign_clock) noexcept
    {
        haft_domain_options options = {};

        options.clock = clock;
        options.foreign_clock = foreign_clock;
        return open(options);
    }

    /* Where the answer is not HAFT_OK, nothing has been done.  An empty one: HAFT_OK. */
    haft_status close() noexcept { return close_by(haft_domain_close); }

    haft_status wait() const noexcept { return haft_domain_wait(handle_.get()); }
    haft_status tick() const noexcept { return haft_domain_tick(handle_.get()); }
    haft_domain_stats stats() const noexcept { return haft_domain_stats_get(handle_.get()); }

  private:
    explicit domain(haft_domain *opened) noexcept : owner(opened) {}
};

namespace detail
{

/* One call where it begins, one where it ends, by the same thread. */
template <void (*Begin)(haft_domain *), void (*End)(haft_domain *)> class scope
{
  public:
    explicit scope(const domain &domain) noexcept : scope(domain.untyped()) {}
    explicit scope(haft_domain *domain) noexcept : domain_(domain) { Begin(domain_); }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    ~scope() { End(domain_); }

  private:
    haft_domain *domain_;
};

/* The same, where what the first call returns is for the second. */
template <haft_job_state (*Begin)(haft_domain *), void (*End)(haft_domain *, haft_job_state)>
class stateful_scope
{
  public:
    explicit stateful_scope(const domain &domain) noexcept : stateful_scope(domain.untyped()) {}
    explicit stateful_scope(haft_domain *domain) noexcept : domain_(domain), state_(Begin(domain))
    {
    }
    stateful_scope(const stateful_scope &) = delete;
    stateful_scope &operator=(const stateful_scope &) = delete;
    ~stateful_scope() { End(domain_, state_); }

  private:
    haft_domain *domain_;
    haft_job_state state_;
};

} // namespace detail

/* haft_job_begin() to haft_job_end(): what it resolves stays until then, through inner jobs. */
using job = detail::stateful_scope<haft_job_begin, haft_job_end>;

/* haft_thread_park() to _unpark(): around a wait, or what blocks, in a job. */
using parked = detail::stateful_scope<haft_thread_park, haft_thread_unpark>;

/* haft_thread_register() to haft_thread_unregister(): once for each thread and foreign clock. */
using registered_thread = detail::scope<haft_thread_register, haft_thread_unregister>;

/* haft_section_begin() to haft_section_end(): what is resolved within may be used within. */
using read_section = detail::scope<haft_section_begin, haft_section_end>;

/* haft_thread_offline() to _online(): around what blocks, with qsbr and the workers clock. */
using offline = detail::scope<haft_thread_offline, haft_thread_online>;

} // namespace haft

#endif // HAFT_DETAIL_DOMAIN_HPP
