/* Random operations on an arena, beside a list of what must be there. */
#include "tests/arena/arena_support.h"
#include <string.h>

TestSuite(arena_model, .timeout = SUITE_SECONDS);

#define MOST 400
#define MARKS 8

struct piece {
    unsigned char *bytes;
    size_t size;
    size_t alignment;
    unsigned char fill;
};

struct point {
    haft_mark mark;
    size_t used;
    int count;
    size_t sizes[MOST]; /* as they were then: growth falls back */
    unsigned char *places[MOST];
};

static struct {
    haft_arena *arena;
    uint64_t random;
    struct piece pieces[MOST];
    int count;
    struct point points[MARKS];
    int point_count;
    size_t most_used;
    int met[5]; /* how often: allocated, grew in place, moved, rewound, reset */
} model;

static size_t random_below(size_t limit)
{
    return (size_t)(random_next(&model.random) % limit);
}

static size_t random_size(void)
{
    static const size_t limits[] = {2, 20, 300, 3000, 20000};

    return random_below(limits[random_below(5)]);
}

static void expect_intact(const struct piece *piece)
{
    must((uintptr_t)piece->bytes % piece->alignment == 0);
    for (size_t i = 0; i < piece->size; i++) {
        must(piece->bytes[i] == piece->fill);
    }
}

static void fill(struct piece *piece, size_t from)
{
    memset(piece->bytes + from, piece->fill, piece->size - from);
}

static void expect_apart(const struct piece *piece)
{
    for (int i = 0; i < model.count; i++) {
        const struct piece *other = &model.pieces[i];
        const size_t own = piece->size > 0 ? piece->size : 1;
        const size_t others = other->size > 0 ? other->size : 1;

        must(other == piece || piece->bytes + own <= other->bytes ||
             other->bytes + others <= piece->bytes);
    }
}

static void allocate(void)
{
    if (model.count == MOST) {
        return;
    }
    struct piece piece = {
        .size = random_size(),
        .alignment = (size_t)1 << random_below(10),
        .fill = (unsigned char)random_next(&model.random),
    };

    piece.bytes = haft_arena_alloc_aligned(model.arena, piece.size, piece.alignment);
    if (piece.bytes == NULL) {
        return;
    }
    model.pieces[model.count] = piece;
    expect_apart(&model.pieces[model.count]);
    fill(&model.pieces[model.count], 0);
    model.count++;
    model.met[0]++;
}

static void resize(void)
{
    if (model.count == 0) {
        return;
    }
    const int which = random_below(2) ? model.count - 1 : (int)random_below((size_t)model.count);
    struct piece *piece = &model.pieces[which];
    const size_t size = random_size();
    unsigned char *bytes =
        haft_arena_resize(model.arena, piece->bytes, piece->size, size, piece->alignment);

    if (bytes == NULL) {
        expect_intact(piece);
        return;
    }
    model.met[1] += bytes == piece->bytes && size > piece->size;
    model.met[2] += bytes != piece->bytes;
    const size_t kept = size < piece->size ? size : piece->size;

    piece->bytes = bytes;
    piece->size = kept;
    expect_intact(piece);
    piece->size = size;
    expect_apart(piece);
    fill(piece, kept);
}

static void mark(void)
{
    if (model.point_count == MARKS) {
        return;
    }
    struct point *point = &model.points[model.point_count++];

    point->mark = haft_arena_mark(model.arena);
    point->used = haft_arena_stats_get(model.arena).used;
    point->count = model.count;
    for (int i = 0; i < model.count; i++) {
        point->sizes[i] = model.pieces[i].size;
        point->places[i] = model.pieces[i].bytes;
    }
}

/* A block resized since the mark keeps the bytes that it had then and has now, at its old place. */
static void rewind_to_mark(void)
{
    if (model.point_count == 0) {
        return;
    }
    model.point_count = (int)random_below((size_t)model.point_count);
    const struct point *point = &model.points[model.point_count];

    haft_arena_rewind(model.arena, point->mark);
    must(haft_arena_stats_get(model.arena).used == point->used);
    int kept = 0;

    for (int i = 0; i < point->count; i++) {
        struct piece piece = model.pieces[i];

        if (piece.bytes == point->places[i]) {
            piece.size = piece.size < point->sizes[i] ? piece.size : point->sizes[i];
            expect_intact(&piece);
            model.pieces[kept++] = piece;
        }
    }
    model.count = kept;
    model.point_count = 0; /* their lists of pieces no longer fit */
    model.met[3]++;
}

static void reset(void)
{
    haft_arena_reset(model.arena);
    must(haft_arena_stats_get(model.arena).used == 0);
    model.count = 0;
    model.point_count = 0;
    model.met[4]++;
}

static void step(void)
{
    const size_t choice = random_below(100);

    if (choice < 55) {
        allocate();
    } else if (choice < 85) {
        resize();
    } else if (choice < 92) {
        mark();
    } else if (choice < 97) {
        rewind_to_mark();
    } else if (choice < 98) {
        reset();
    } else {
        haft_arena_trim(model.arena);
    }
    const haft_arena_stats stats = haft_arena_stats_get(model.arena);

    model.most_used = stats.used > model.most_used ? stats.used : model.most_used;
    must(stats.high_water >= model.most_used && stats.used <= stats.capacity);
}

static void run(const haft_arena_options *options, uint64_t seed)
{
    memset(&model, 0, sizeof model);
    model.arena = open_arena(options);
    model.random = seed;
    for (int i = 0; i < 4000; i++) {
        step();
        if (i % 16 == 0) {
            for (int k = 0; k < model.count; k++) {
                expect_intact(&model.pieces[k]);
            }
        }
    }
    for (int i = 0; i < 5; i++) {
        cr_expect(lt(int, 0, model.met[i]), "operation %d was never met", i);
    }
    haft_arena_close(model.arena);
}

Test(arena_model, chained_blocks_answer_as_the_list_does)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        run(&(haft_arena_options){.block_size = 1024, .max_block_size = 8192}, seed);
    }
    expect_no_leaks();
}

Test(arena_model, a_fixed_buffer_answers_as_the_list_does)
{
    static char buffer[40000];

    for (uint64_t seed = 1; seed <= 10; seed++) {
        run(&(haft_arena_options){.buffer = buffer + seed, .buffer_size = 39000, .fixed = true},
            seed);
    }
}
