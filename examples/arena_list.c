/* arena_list.c - linked lists whose memory is the caller's choice: an arena's, or malloc's. */
#include <haft/kit/arena.h>
#include <stdio.h>

#define COUNT 1000

/* --- singly linked --- */

struct node {
    struct node *next;
    int value;
};

static struct node *push(haft_allocator from, struct node *list, int value)
{
    struct node *node = from.alloc(from.context, sizeof *node, _Alignof(struct node));

    if (node != NULL) {
        *node = (struct node){list, value};
    }
    return node;
}

static struct node *reverse(struct node *list)
{
    struct node *reversed = NULL;

    while (list != NULL) {
        struct node *next = list->next;

        list->next = reversed;
        reversed = list;
        list = next;
    }
    return reversed;
}

static void drop(haft_allocator from, struct node *list)
{
    while (list != NULL) {
        struct node *next = list->next;

        from.free(from.context, list, sizeof *list);
        list = next;
    }
}

/* Is it first, first + step ... up to COUNT values? */
static bool counts(const struct node *list, int first, int step)
{
    int count = 0;

    for (; list != NULL && list->value == first + count * step; list = list->next) {
        count++;
    }
    return list == NULL && count == COUNT;
}

static bool try_singly(haft_allocator from)
{
    struct node *list = NULL;

    for (int value = 0; value < COUNT; value++) {
        struct node *pushed = push(from, list, value);

        if (pushed == NULL) {
            drop(from, list);
            return false;
        }
        list = pushed;
    }
    const bool built = counts(list, COUNT - 1, -1);

    list = reverse(list);
    const bool right = built && counts(list, 0, 1);

    drop(from, list);
    return right;
}

/* --- doubly linked, in a ring with its head --- */

struct link {
    struct link *next;
    struct link *previous;
    int value;
};

static bool append(haft_allocator from, struct link *head, int value)
{
    struct link *link = from.alloc(from.context, sizeof *link, _Alignof(struct link));

    if (link == NULL) {
        return false;
    }
    *link = (struct link){head, head->previous, value};
    head->previous->next = link;
    head->previous = link;
    return true;
}

static void reverse_ring(struct link *head)
{
    struct link *link = head;

    do {
        struct link *next = link->next;

        link->next = link->previous;
        link->previous = next;
        link = next;
    } while (link != head);
}

static void drop_ring(haft_allocator from, struct link *head)
{
    while (head->next != head) {
        struct link *link = head->next;

        head->next = link->next;
        from.free(from.context, link, sizeof *link);
    }
    head->previous = head;
}

/* Both ways round: is it first, first + step ... forwards, and the links agree? */
static bool ring_counts(const struct link *head, int first, int step)
{
    const struct link *link = head->next;
    int count = 0;

    for (; link != head && link->value == first + count * step; link = link->next) {
        if (link->previous->next != link || link->next->previous != link) {
            return false;
        }
        count++;
    }
    return link == head && count == COUNT;
}

static bool try_doubly(haft_allocator from)
{
    struct link head = {&head, &head, 0};
    bool right = true;

    for (int value = 0; value < COUNT && right; value++) {
        right = append(from, &head, value);
    }
    right = right && ring_counts(&head, 0, 1);
    reverse_ring(&head);
    right = right && ring_counts(&head, COUNT - 1, -1);
    drop_ring(from, &head);
    return right;
}

/* --- both, with each memory --- */

static bool try_lists(const char *memory, haft_allocator from)
{
    const bool singly = try_singly(from);
    const bool doubly = try_doubly(from);

    printf("%-6s  singly linked: %s, doubly linked: %s\n", memory, singly ? "right" : "WRONG",
           doubly ? "right" : "WRONG");
    return singly && doubly;
}

int main(int argc, char **argv)
{
    haft_arena *arena;

    if (argc > 1) {
        fprintf(stderr, "arena_list: takes no arguments, not '%s'\n", argv[1]);
        return 2;
    }
    if (haft_arena_open(&(haft_arena_options){.block_size = 4096}, &arena) != HAFT_OK) {
        return 1;
    }
    bool right = try_lists("arena", haft_arena_allocator(arena));
    const size_t used = haft_arena_stats_get(arena).used;

    haft_arena_reset(arena); /* this frees the nodes, whatever drop() did */
    right &= try_lists("malloc", haft_allocator_malloc());
    printf("The arena held %zu bytes of nodes, and %zu after its reset.\n", used,
           haft_arena_stats_get(arena).used);
    right &= haft_arena_stats_get(arena).used == 0;
    haft_arena_close(arena);
    return !right || fflush(stdout);
}
