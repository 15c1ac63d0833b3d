/* The stores, and the threads that have seen them.  Compiled without ThreadSanitizer. */
#include "stress/explorer/history.h"
#include "stress/explorer/choice.h"
#include "stress/explorer/report.h"
#include "stress/explorer/scheduler.h"
#include <stddef.h>

#define MOST_STORES 8192
#define MOST_VIEWS 2048 /* that stores carry, in one schedule */
#define PLACES 2048     /* of the hash table of words; a power of two above MOST_WORDS */

struct store {
    uint64_t value;
    const struct view *released; /* NULL: it carries none */
    void *token;
    struct store *earlier;
};

struct word {
    const void *address;
    struct store *newest;
    uint16_t stores;
};

static struct word words[MOST_WORDS];
static uint32_t word_count;
static uint16_t places[PLACES]; /* number of a word and 1 */
static struct store stores[MOST_STORES];
static uint32_t store_count;
static struct view views[MOST_VIEWS];
static uint32_t view_count;
static struct view of_thread[MOST_SCHEDULED];

void view_clear(struct view *view)
{
    view->words = 0;
}

void view_join(struct view *view, const struct view *other)
{
    while (view->words < other->words) {
        view->seen[view->words++] = 0;
    }
    for (uint32_t i = 0; i < other->words; i++) {
        if (other->seen[i] > view->seen[i]) {
            view->seen[i] = other->seen[i];
        }
    }
}

static uint16_t *seen_of(struct view *view, uint32_t word)
{
    while (view->words <= word) {
        view->seen[view->words++] = 0;
    }
    return &view->seen[word];
}

struct view *history_view(uint32_t thread)
{
    return &of_thread[thread];
}

void history_clear(void)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        places[i] = 0;
    }
    for (uint32_t i = 0; i < MOST_SCHEDULED; i++) {
        view_clear(&of_thread[i]);
    }
    word_count = 0;
    store_count = 0;
    view_count = 0;
}

/* --- words and stores --- */

static struct store *new_store(struct word *word, uint64_t value)
{
    if (store_count == MOST_STORES || word->stores == UINT16_MAX) {
        violation("the case makes more stores than there is room for");
    }
    struct store *store = &stores[store_count++];

    store->value = value;
    store->released = NULL;
    store->token = NULL;
    store->earlier = word->newest;
    word->newest = store;
    word->stores++;
    return store;
}

static uint32_t place_of(const void *address)
{
    uint32_t place = (uint32_t)(((uintptr_t)address >> 3) * UINT32_C(2654435761) % PLACES);

    while (places[place] != 0 && words[places[place] - 1].address != address) {
        place = (place + 1) % PLACES;
    }
    return place;
}

/* The word at `address`, the number in `*number`; its newest store is what memory holds. */
static struct word *word_at(const void *address, uint64_t newest, uint32_t *number)
{
    const uint32_t place = place_of(address);

    if (places[place] == 0) {
        if (word_count == MOST_WORDS) {
            violation("the case uses more words than there is room for");
        }
        words[word_count] = (struct word){address, NULL, 0};
        places[place] = (uint16_t)++word_count;
    }
    *number = places[place] - 1u;
    struct word *word = &words[*number];

    if (word->newest == NULL) {
        new_store(word, newest);
    } else if (word->newest->value != newest) {
        /* Written without an atomic operation, by the thread that had it alone. */
        new_store(word, newest);
        *seen_of(&of_thread[schedule_self()], *number) = (uint16_t)(word->stores - 1);
    }
    return word;
}

/* A copy of the calling thread's view, for a store to carry. */
static const struct view *released_view(const struct view *also)
{
    if (view_count == MOST_VIEWS) {
        violation("the case releases more often than there is room for");
    }
    struct view *view = &views[view_count++];

    view_clear(view);
    view_join(view, &of_thread[schedule_self()]);
    if (also != NULL) {
        view_join(view, also);
    }
    return view;
}

static void acquire(const struct store *store, void **token)
{
    if (store->released != NULL) {
        view_join(&of_thread[schedule_self()], store->released);
    }
    *token = store->token;
}

uint64_t history_load(const void *address, uint64_t newest, bool acquires, void **token)
{
    uint32_t number;
    const struct word *word = word_at(address, newest, &number);
    uint16_t *seen = seen_of(&of_thread[schedule_self()], number);
    const uint16_t back = (uint16_t)choice_of_store((uint32_t)(word->stores - *seen));
    const struct store *store = word->newest;

    for (uint16_t i = 0; i < back; i++) {
        store = store->earlier;
    }
    *seen = (uint16_t)(word->stores - 1 - back);
    *token = NULL;
    if (acquires) {
        acquire(store, token);
    }
    return store->value;
}

void history_store(const void *address, uint64_t newest, uint64_t value, bool releases,
                   void **token)
{
    uint32_t number;
    struct word *word = word_at(address, newest, &number);
    struct store *store = new_store(word, value);

    *seen_of(&of_thread[schedule_self()], number) = (uint16_t)(word->stores - 1);
    *token = NULL;
    if (releases) {
        store->released = released_view(NULL);
        store->token = store;
        *token = store;
    }
}

void history_modify(const void *address, uint64_t newest, uint64_t value, bool acquires,
                    bool releases, void **read_token, void **token)
{
    uint32_t number;
    struct word *word = word_at(address, newest, &number);
    const struct store *read = word->newest;
    struct store *store = new_store(word, value);

    *read_token = NULL;
    *seen_of(&of_thread[schedule_self()], number) = (uint16_t)(word->stores - 1);
    if (acquires) {
        acquire(read, read_token);
    }
    store->released = releases ? released_view(read->released) : read->released;
    store->token = read->token != NULL ? read->token : releases ? store : NULL;
    *token = releases ? store->token : NULL;
}

void history_fail(const void *address, uint64_t newest)
{
    uint32_t number;
    const struct word *word = word_at(address, newest, &number);

    *seen_of(&of_thread[schedule_self()], number) = (uint16_t)(word->stores - 1);
}
