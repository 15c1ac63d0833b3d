/*
 * workers.pml - the workers clock: each thread announces its quiescent points, anyone adds them up
 * (concurrent/clock/clock_workers.c).
 *
 * Threads resolve, hold, pass quiescent points, go offline and come back, free, add up, and reuse,
 * in any order.
 *
 * Checked    what a thread has resolved since its last quiescent point is not written; an object is
 *            complete when it is found; no id is issued twice.
 * Broken by  -DMEMBERS_FIRST, -DAWAY_EARLY, -DANNOUNCE_EARLY, -DONLINE_LATE, -DONE_MISSED,
 *            each of which must be found: model.sh.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef STEPS
#define STEPS 4 /* of each thread */
#endif

#define FREE(g) (4 * (g))
#define RESERVED(g) (4 * (g) + 1)
#define LIVE(g) (4 * (g) + 2)
#define INCOMPLETE 0
#define NOTHING 0 /* holds all tickets up: on its way online */
#define AWAY 255  /* holds nothing up */

byte word = LIVE(1);
byte object = 1;
byte board = 1;  /* the id reserved last, for others to try: its generation */
byte issued = 1;
byte requested;
byte done;
byte announced[THREADS];
byte ticket; /* of the closed batch with the one slot; 0: it is in no batch */

inline come_back()
{
    announced[me] = NOTHING;
    r = requested; /* a read-modify-write: in one order with all tickets */
    announced[me] = r;
    r = 0
}

inline look()
{
    if
    :: held != 0 -> assert(object == held)
    :: else
    fi
}

inline announce()
{
#ifdef ANNOUNCE_EARLY
    r = requested;
    announced[me] = r;
    look();
    held = 0;
#else
    look();
    held = 0;
    r = requested;
    announced[me] = r;
#endif
    r = 0
}

inline go_away_and_come_back()
{
#ifdef AWAY_EARLY
    announced[me] = AWAY;
    look();
    held = 0;
#else
    look();
    held = 0;
    announced[me] = AWAY;
#endif
#ifdef ONLINE_LATE
    resolve();
#endif
    come_back()
}

inline resolve()
{
    r = board;
    if
    :: word == LIVE(r) ->
        held = r;
        assert(object == held)
    :: else
    fi;
    r = 0
}

inline free_one()
{
    r = board;
    won = false;
    d_step {
        if
        :: word == LIVE(r) ->
            word = FREE(r + 1);
            won = true
        :: else
        fi
    };
    if
    :: won ->
        d_step {
            won = false;
            requested++;
            ticket = requested
        }
    :: else
    fi;
    r = 0
}

/* Mark what all have announced as done. */
inline advance()
{
#ifndef MEMBERS_FIRST
    lowest = requested;
#else
    lowest = AWAY;
#endif
#ifdef ONE_MISSED
    i = 1;
#else
    i = 0;
#endif
    do
    :: i < THREADS ->
        atomic {
            if
            :: announced[i] < lowest -> lowest = announced[i]
            :: else
            fi;
            i++
        }
    :: else -> break
    od;
#ifdef MEMBERS_FIRST
    if
    :: lowest > requested -> lowest = requested
    :: else
    fi;
#endif
    atomic {
        if
        :: lowest > done && lowest != AWAY -> done = lowest
        :: else
        fi;
        lowest = 0;
        i = 0
    }
}

/* Wait for others, away meanwhile. */
inline wait()
{
    look();
    held = 0;
    announced[me] = AWAY;
    advance();
    come_back()
}

inline reuse()
{
    atomic {
        won = false;
        if
        :: ticket != 0 && ticket <= done ->
            ticket = 0;
            won = true;
            r = word / 4;
            assert(r > issued);
            issued = r;
            word = RESERVED(r);
            board = r
        :: else
        fi
    };
    if
    :: won ->
        won = false;
        object = INCOMPLETE;
        object = r;
        word = LIVE(r)
    :: else
    fi;
    r = 0
}

proctype thread(byte me)
{
    byte held, r, n, i, lowest;
    bool won;

    come_back();
    do
    :: n < STEPS ->
        n++;
        if
        :: true -> resolve()
        :: true -> announce()
        :: true -> go_away_and_come_back()
        :: true -> free_one()
        :: true -> advance()
        :: true -> wait()
        :: true -> reuse()
        fi
    :: else -> break
    od;
    look();
    held = 0;
    announced[me] = AWAY
}

init
{
    byte i;

    atomic {
        for (i : 0 .. THREADS - 1) {
            announced[i] = AWAY
        };
        for (i : 0 .. THREADS - 1) {
            run thread(i)
        }
    }
}
