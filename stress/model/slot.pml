/*
 * slot.pml - slots, batches and the ticket clock: who may reuse what a reader could still hold.
 *
 * Readers resolve ids within sections.  Workers free (lib/slots/word.h, CLAIM), put slots into batches,
 * take a ticket for each full one (concurrent/clock/domain.h, TICKET), and reuse batches whose ticket
 * is done (ELAPSED).  Drivers may overlap: each reads `requested`, waits for the sections that were
 * open when it began, and no others, and raises `done`.  A batch may be taken by any worker.
 *
 * Checked    a held object is not written; an object is complete when it is found; a slot is in
 *            one batch at a time; no id is issued twice; `done` never falls; in the end every
 *            slot is live or in a batch.
 * Broken by  -DNO_CAS, -DTICKET_EARLY, -DDONE_LATE, -DNO_GRACE, -DNO_TICKET, -DPUBLISH_EARLY,
 *            -DSAME_GENERATION, -DNO_MAX, -DBATCH_TWICE, each of which must be found: model.sh.
 */
#ifndef SLOTS
#define SLOTS 1
#endif
#ifndef BATCH
#define BATCH 1 /* slots in a full batch */
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef SECTIONS
#define SECTIONS 1 /* of each reader */
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef FREES
#define FREES 2 /* of each worker, at most */
#endif
#ifndef DRIVERS
#define DRIVERS 2
#endif
#ifndef PERIODS
#define PERIODS 1 /* of each driver */
#endif

#define CLOSED (2 * WORKERS * (FREES + 1))
#define FREE(g) (4 * (g))
#define RESERVED(g) (4 * (g) + 1)
#define LIVE(g) (4 * (g) + 2)
#define INCOMPLETE 0
#ifdef NO_TICKET
#define MAY_REUSE(ticket) true
#else
#define MAY_REUSE(ticket) ((ticket) <= done)
#endif

byte word[SLOTS];
byte object[SLOTS]; /* the generation it was written for; INCOMPLETE while it is written */
byte board[SLOTS];  /* the id reserved last, for others to try: its generation */
byte issued[SLOTS];
byte batches[SLOTS]; /* that hold the slot */
byte requested;
byte done;
bool inside[READERS];
byte section[READERS]; /* its number */

/* Closed batches, oldest first: their ticket, and their slots (SLOTS: none). */
typedef batch {
    byte ticket;
    byte first;
    byte second
};
batch closed[CLOSED];
byte oldest;
byte newest;

proctype reader(byte me)
{
    byte s, id, n;

    do
    :: n < SECTIONS ->
        select (s : 0 .. SLOTS - 1);
        id = board[s];
        inside[me] = true;
        if
        :: word[s] == LIVE(id) ->
            assert(object[s] == id);
            assert(object[s] == id) /* and until the section ends */
        :: else
        fi;
        d_step {
            inside[me] = false;
            section[me]++;
            id = 0;
            s = 0
        };
        n++
    :: else -> break
    od
}

inline put()
{
    closed[newest].ticket = ticket;
    closed[newest].first = first;
    closed[newest].second = second;
    newest++
}

inline close_batch()
{
#ifndef TICKET_EARLY
    d_step {
        requested++;
        ticket = requested
    };
#endif
    d_step {
        put();
#ifdef BATCH_TWICE
        put();
#endif
        first = SLOTS;
        second = SLOTS;
        ticket = 0
    }
}

inline free_one()
{
    select (s : 0 .. SLOTS - 1);
    id = board[s];
    won = false;
#ifdef TICKET_EARLY
    if
    :: ticket == 0 ->
        d_step {
            requested++;
            ticket = requested
        }
    :: else
    fi;
#endif
#ifdef NO_CAS
    if
    :: word[s] == LIVE(id) -> won = true
    :: else
    fi;
    if
    :: won -> word[s] = FREE(id + 1)
    :: else
    fi;
#else
    d_step {
        if
        :: word[s] == LIVE(id) ->
            won = true;
#ifdef SAME_GENERATION
            word[s] = FREE(id)
#else
            word[s] = FREE(id + 1)
#endif
        :: else
        fi
    };
#endif
    if
    :: won ->
        d_step {
            assert(batches[s] == 0);
            batches[s]++;
            if
            :: first == SLOTS -> first = s
            :: else -> second = s
            fi
        };
        if
        :: BATCH == 1 || second != SLOTS -> close_batch()
        :: else
        fi
    :: else
    fi
}

inline insert_into(slot)
{
    d_step {
        assert(batches[slot] == 1);
        batches[slot]--;
        id = word[slot] / 4;
        assert(id > issued[slot]);
        issued[slot] = id;
        word[slot] = RESERVED(id);
        board[slot] = id
    };
    object[slot] = INCOMPLETE;
#ifdef PUBLISH_EARLY
    word[slot] = LIVE(id);
    object[slot] = id
#else
    object[slot] = id;
    word[slot] = LIVE(id)
#endif
}

/* The oldest closed batch, if its ticket is done. */
inline reuse()
{
    atomic {
        taken = SLOTS;
        also = SLOTS;
        if
        :: oldest != newest && MAY_REUSE(closed[oldest].ticket) ->
            taken = closed[oldest].first;
            also = closed[oldest].second;
            oldest++
        :: else
        fi
    };
    if
    :: taken != SLOTS -> insert_into(taken)
    :: else
    fi;
    if
    :: also != SLOTS -> insert_into(also)
    :: else
    fi
}

proctype worker()
{
    byte s, id, n, ticket;
    byte first = SLOTS, second = SLOTS, taken, also;
    bool won;

    do
    :: n < FREES ->
        free_one();
        reuse();
        n++
    :: else -> break
    od;
    if
    :: first != SLOTS -> close_batch()
    :: else
    fi;
    reuse()
}

proctype driver()
{
    byte s, r, n;
    bool was_inside[READERS];
    byte was_section[READERS];

    do
    :: n < PERIODS ->
#ifndef DONE_LATE
        s = requested;
#endif
#ifndef NO_GRACE
        atomic {
            for (r : 0 .. READERS - 1) {
                was_inside[r] = inside[r];
                was_section[r] = section[r]
            }
        };
        for (r : 0 .. READERS - 1) {
            !was_inside[r] || !inside[r] || section[r] != was_section[r]
        };
#endif
#ifdef DONE_LATE
        s = requested;
#endif
        atomic {
#ifdef NO_MAX
            assert(s >= done);
            done = s;
#else
            if
            :: s > done -> done = s
            :: else
            fi;
#endif
            for (r : 0 .. READERS - 1) {
                was_inside[r] = false;
                was_section[r] = 0
            };
            s = 0;
            r = 0
        };
        n++
    :: else -> break
    od
}

init
{
    byte i;

    atomic {
        for (i : 0 .. SLOTS - 1) {
            word[i] = LIVE(1);
            object[i] = 1;
            board[i] = 1;
            issued[i] = 1
        };
        for (i : 0 .. READERS - 1) {
            run reader(i)
        };
        for (i : 1 .. WORKERS) {
            run worker()
        };
        for (i : 1 .. DRIVERS) {
            run driver()
        }
    };
    _nr_pr == 1;
    for (i : 0 .. SLOTS - 1) {
        assert(batches[i] == (word[i] != LIVE(issued[i])))
    }
}
