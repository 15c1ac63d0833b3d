/* haft::arena: objects that end with the arena's contents. */
#include "tests/cpp/counted.hpp"
#include <memory>

TestSuite(cpp_arena, .timeout = SUITE_SECONDS);

static haft::arena opened(const haft_arena_options &options = {})
{
    auto made = haft::arena::open(options);

    cr_assert(made);
    return std::move(*made);
}

struct ordered {
    ~ordered()
    {
        cr_expect_eq(*last, number + 1);
        *last = number;
    }
    int *last;
    int number;
};

Test(cpp_arena, objects_are_destroyed_at_the_reset_the_last_one_first)
{
    haft::arena arena = opened();
    int last = 10;

    for (int i = 0; i < 10; i++) {
        cr_assert_not_null(arena.create<ordered>(&last, i));
    }
    arena.reset();
    cr_expect_eq(last, 0);
    arena.reset();
    cr_expect_eq(last, 0);
}

/* Of an object in the same arena, which its constructor makes: that was made first. */
struct outer {
    explicit outer(haft::arena &arena) : inner(arena.create<counted>(7)) {}
    ~outer() { seen = inner->number; }
    counted *inner;
    static inline int seen = 0;
};

Test(cpp_arena, an_object_ends_before_those_that_its_constructor_made)
{
    haft::arena arena = opened();

    cr_assert_not_null(arena.create<outer>(arena));
    arena.reset();
    cr_expect_eq(outer::seen, 7);
    cr_expect_eq(counted::live(), 0);
}

/* Its destructor makes another, once. */
struct successor {
    explicit successor(haft::arena *in) : arena(in) {}
    ~successor()
    {
        if (arena != nullptr) {
            cr_expect_not_null(arena->create<counted>(1));
        }
    }
    haft::arena *arena;
};

Test(cpp_arena, a_destructor_finds_the_arena_while_it_closes)
{
    haft::arena arena = opened();

    cr_assert_not_null(arena.create<successor>(&arena));
    arena.close();
    cr_expect_not(arena);
}

Test(cpp_arena, objects_are_destroyed_once_at_the_end)
{
    {
        haft::arena arena = opened();

        cr_expect_eq(arena.create<counted>(7)->number, 7);
        cr_expect_eq(*arena.create<int>(3), 3);
    }
    cr_expect_eq(counted::destroyed, 1);
    cr_expect_eq(counted::misplaced, 0);
}

Test(cpp_arena, rewinding_destroys_what_was_made_since_the_mark)
{
    haft::arena arena = opened();

    cr_assert_not_null(arena.create<counted>(1));
    const haft_mark mark = arena.mark();
    cr_assert_not_null(arena.create<counted>(2));
    arena.rewind(mark);
    cr_expect_eq(counted::destroyed, 1);
    cr_expect_eq(counted::live(), 1);
}

Test(cpp_arena, constructor_that_throws_leaves_nothing_to_destroy)
{
    haft::arena arena = opened();

    cr_expect_throw((void)arena.create<thrower>(true), int);
    cr_expect_not_null(arena.create<thrower>(false));
    cr_expect_eq(counted::live(), 1);
    arena.reset();
    cr_expect_eq(counted::live(), 0);
}

Test(cpp_arena, owning_arguments_are_moved_into_the_object)
{
    haft::arena arena = opened();
    const auto *owner = arena.create<std::unique_ptr<int>>(std::make_unique<int>(7));

    cr_assert_not_null(owner);
    cr_expect_eq(**owner, 7);
}

struct alignas(128) wide {
    counted life;
};

Test(cpp_arena, objects_are_aligned)
{
    haft::arena arena = opened();

    for (int i = 0; i < 5; i++) {
        cr_assert_not_null(arena.create<char>('a'));
        cr_expect_eq(reinterpret_cast<uintptr_t>(arena.create<wide>()) % 128, 0);
    }
}

Test(cpp_arena, no_memory_is_no_object)
{
    haft_arena_options options = {};
    int made = 0;

    options.block_size = 512;
    options.fixed = true;
    haft::arena arena = opened(options);
    while (arena.create<counted>() != nullptr && made < 1000) {
        made++;
    }
    cr_expect_lt(made, 1000);
    cr_expect_eq(counted::live(), made);
    while (arena.create<int>() != nullptr && made < 2000) {
        made++;
    }
    cr_expect_lt(made, 2000);
    arena.close();
    cr_expect_eq(counted::live(), 0);
}

Test(cpp_arena, moved_from_arena_is_empty)
{
    haft::arena first = opened();

    cr_assert_not_null(first.create<counted>(1));
    haft::arena second = std::move(first);
    cr_expect_not(first);
    cr_expect_eq(counted::destroyed, 0);
    second = opened();
    cr_expect_eq(counted::destroyed, 1);
    cr_expect_gt(second.stats().capacity, 0);
}

Test(cpp_arena, bad_option_is_named)
{
    haft_arena_options options = {};

    options.block_size = SIZE_MAX;
    expect_status(haft::arena::open(options).status(), HAFT_BAD_BLOCK_SIZE);
}
