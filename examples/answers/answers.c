/*
 * answers.c - replays a trace and prints what haft answers, row by row.
 *
 *   answers TRACE.csv
 *
 * The rows of the trace are `thread,op,object`, as examples/replay reads them; one thread carries
 * all out.  The same program in C++ (answers.cc), Python (../python/answers.py) and Rust
 * (../rust/src/bin/answers.rs) prints the same bytes.
 */
#include <haft/haft.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OBJECTS = 1 << 16 };

struct object {
    uint64_t number;
    uint64_t uses;
};

struct replay {
    const char *path;
    unsigned long line;
    haft_domain *domain;
    haft_table *table;
    haft_worker *worker;
    haft_id *ids; /* by the number of the object; nil: not allocated */
};

static int complain(const struct replay *replay, const char *what)
{
    fprintf(stderr, "answers: %s:%lu: %s\n", replay->path, replay->line, what);
    return 1;
}

static int allocate(struct replay *replay, uint64_t number)
{
    const struct object object = {number, 0};
    haft_id *id = &replay->ids[number];
    char text[HAFT_ID_TEXT_SIZE];
    const haft_status status = haft_insert_wait(replay->worker, &object, id);

    if (status != HAFT_OK) {
        return complain(replay, haft_status_text(status));
    }
    haft_id_format(haft_table_info(replay->table).layout, *id, text, sizeof text);
    printf("%s %" PRIu64 "\n", text, id->bits);
    return 0;
}

static int use(const struct replay *replay, uint64_t number)
{
    struct object *found = haft_resolve(haft_table_view(replay->table), replay->ids[number]);

    if (found == NULL) {
        return complain(replay, "the object is not found");
    }
    found->uses++;
    printf("%" PRIu64 " %" PRIu64 "\n", found->number, found->uses);
    haft_worker_quiescent(replay->worker);
    return 0;
}

static int put_back(struct replay *replay, uint64_t number)
{
    const haft_id id = replay->ids[number];
    char text[HAFT_ID_TEXT_SIZE];
    const haft_status first = haft_free(replay->worker, id);

    if (first != HAFT_OK) {
        return complain(replay, haft_status_text(first));
    }
    const haft_status second = haft_free(replay->worker, id);

    replay->ids[number] = HAFT_NIL;
    haft_id_format(haft_table_info(replay->table).layout, id, text, sizeof text);
    printf("%s %s %s\n", text, haft_status_name(second), haft_status_text(second));
    return 0;
}

static int carry_out(struct replay *replay, char op, uint64_t number)
{
    if (number >= MOST_OBJECTS) {
        return complain(replay, "the number of the object is above 65535");
    }
    if (haft_id_is_nil(replay->ids[number]) != (op == 'a')) {
        return complain(replay,
                        op == 'a' ? "the object is allocated" : "the object is not allocated");
    }
    printf("%lu %c %" PRIu64 " ", replay->line, op, number);
    return op == 'a'   ? allocate(replay, number)
           : op == 'u' ? use(replay, number)
                       : put_back(replay, number);
}

/* A row, "thread,op,object"; false if it is none. */
static bool read_row(const char *text, char *op, uint64_t *number)
{
    int end = 0;

    return sscanf(text, "%*u,%c,%" SCNu64 "%n", op, number, &end) == 2 && end != 0 &&
           strchr("auf", *op) != NULL && (text[end] == '\n' || text[end] == '\0');
}

static int replay_rows(struct replay *replay, FILE *file)
{
    char text[128];
    char op;
    uint64_t number;

    while (fgets(text, sizeof text, file) != NULL) {
        replay->line++;
        if (text[0] == '#') {
            continue;
        }
        if (!read_row(text, &op, &number)) {
            return complain(replay, "not a row: thread,op,object with op a, u or f");
        }
        if (carry_out(replay, op, number) != 0) {
            return 1;
        }
    }
    printf("%" PRIu64 " live\n", haft_table_stats_get(replay->table).live);
    return 0;
}

static int open_and_replay(struct replay *replay, FILE *file)
{
    const haft_table_options options = {
        .name = "answers", .capacity = MOST_OBJECTS, .object_size = sizeof(struct object)};
    int wrong;

    if (replay->ids == NULL || haft_domain_open(NULL, &replay->domain) ||
        haft_table_open(replay->domain, &options, &replay->table) ||
        haft_worker_open(replay->table, &replay->worker)) {
        return complain(replay, "no memory");
    }
    wrong = replay_rows(replay, file);
    return haft_worker_close(replay->worker) || haft_table_close(replay->table) ||
           haft_domain_close(replay->domain) || wrong;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "Usage: answers TRACE.csv\n");
        return 2;
    }
    struct replay replay = {.path = argv[1], .ids = calloc(MOST_OBJECTS, sizeof(haft_id))};
    FILE *file = fopen(argv[1], "r");

    if (file == NULL) {
        perror(argv[1]);
        free(replay.ids);
        return 1;
    }
    const int wrong = open_and_replay(&replay, file);

    fclose(file);
    free(replay.ids);
    return fflush(stdout) != 0 || wrong;
}
