/*
 * server - lines over TCP on the loopback interface: two threads, a timer and a broadcaster share a
 * table of connections.
 *
 *   server [IDLE_MS [TICK_MS]]
 *
 * A connection is named by its id everywhere: in epoll's events, in timers, in the broadcaster's
 * list, and by clients, which may name others and make ids up.  When it ends, nothing has to be
 * cancelled: these ids are stale.  Its descriptor is closed in on_destroy, so exactly once, when no
 * thread uses it any more.
 *
 *   echo TEXT     the text
 *   id            the connection's id
 *   kick ID       ends the connection with that id: "kicked", or why not
 *   subscribe     "subscribed", and from then on the broadcaster's lines
 *   quit          ends the server: "bye"
 *
 * Lines that answer nothing begin with #: "# tick", and before the server ends a connection
 * "# kicked", "# idle" or "# full".  A client that does not read is cut off without a reason.
 */
#include "examples/screen/output.h"
#include "examples/server/timers.h"
#include <arpa/inet.h>
#include <errno.h>
#include <haft/counted.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 512, LINE_SIZE = 256, BACKLOG = 128 };
enum { UNREAD_BYTES = 65536 }; /* of lines to a client; with more it is cut off */
enum { TIMER_MS = 5, ACCEPT_PAUSE_MS = 200 };

struct connection {
    int descriptor;
    uint32_t length;            /* of the line so far: its reader's alone */
    bool subscribed;            /* its reader's alone */
    _Atomic uint64_t last_used; /* ms */
    pthread_mutex_t sending;
    char line[LINE_SIZE];
};

static haft_counted *connections;
static int epoll;
static int listener;
static atomic_bool ends;
static uint64_t idle_ms = 30000;
static uint64_t tick_ms = 1000;
static struct timers timers = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The broadcaster's list.  Live connections are in it once, others until it is next walked. */
static pthread_mutex_t subscribing = PTHREAD_MUTEX_INITIALIZER;
static haft_id subscribers[MOST_CONNECTIONS];
static size_t subscriber_count;

static _Atomic uint64_t accepted;     /* descriptors */
static _Atomic uint64_t closed;       /* descriptors */
static _Atomic uint64_t close_errors; /* a descriptor closed twice is one, now or a little later */
static _Atomic uint64_t accept_errors;
static _Atomic uint64_t refused; /* no room in the table */
static _Atomic uint64_t idle;
static _Atomic uint64_t not_idle;     /* when the timer was due: it was set again */
static _Atomic uint64_t stale_events; /* these name connections that were gone */
static _Atomic uint64_t stale_timers;
static _Atomic uint64_t stale_subscribers;
static _Atomic uint64_t stale_names;

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void pause_ms(uint64_t ms)
{
    const struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000 * 1000000)};

    nanosleep(&time, NULL);
}

/* --- connections --- */

static void close_descriptor(int descriptor)
{
    atomic_fetch_add(close(descriptor) == 0 ? &closed : &close_errors, 1);
}

/* The last thread that held it lets go: no other uses the descriptor. */
static void end_connection(void *object, haft_id id, void *arg)
{
    struct connection *connection = object;

    (void)id;
    (void)arg;
    pthread_mutex_destroy(&connection->sending);
    close_descriptor(connection->descriptor);
}

/*
 * A line, whole.  The table protects the connection's lifetime; that nothing follows a part of a
 * line is for the lock.  No thread waits for a client that does not read: if a line does not fit,
 * the connection ends, and its last bytes are a part of that line.
 */
static void send_line(struct connection *connection, haft_id id, const char *line)
{
    const ssize_t length = (ssize_t)strlen(line);

    pthread_mutex_lock(&connection->sending);
    const bool whole =
        send(connection->descriptor, line, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL) == length;

    if (!whole) {
        shutdown(connection->descriptor, SHUT_RDWR);
    }
    pthread_mutex_unlock(&connection->sending);
    if (!whole) {
        haft_counted_free(connections, id);
    }
}

/* The caller holds it, so the descriptor stays open.  False: another thread has ended it. */
static bool hang_up(struct connection *connection, haft_id id, const char *last_line)
{
    if (haft_counted_free(connections, id) != HAFT_OK) {
        return false;
    }
    send_line(connection, id, last_line);
    shutdown(connection->descriptor, SHUT_RDWR);
    return true;
}

/* One event at a time for each connection: armed again when its lines are answered. */
static bool watch(int operation, int descriptor, haft_id id)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT, .data.u64 = id.bits};

    return epoll_ctl(epoll, operation, descriptor, &event) == 0;
}

/* A connection for a descriptor.  False: there is no room for it. */
static bool add_connection(int descriptor)
{
    const int at_once = 1;
    const int unread = UNREAD_BYTES;
    struct connection *connection;
    void *object;
    haft_id id;

    if (haft_counted_reserve(connections, &id, &object) != HAFT_OK) {
        return false;
    }
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &unread, sizeof unread);
    connection = object;
    connection->descriptor = descriptor;
    connection->length = 0;
    connection->subscribed = false;
    atomic_init(&connection->last_used, now_ms());
    pthread_mutex_init(&connection->sending, NULL);
    haft_counted_publish(connections, id);
    if (haft_counted_acquire(connections, id) != NULL) { /* else kicked already, and closed */
        if (!timers_add(&timers, (struct timer){now_ms() + idle_ms, id}) ||
            !watch(EPOLL_CTL_ADD, descriptor, id)) {
            haft_counted_free(connections, id);
        }
        haft_counted_release(connections, id);
    }
    return true;
}

/* False: the system has no descriptor or memory; at once it would say so again. */
static bool accept_one(void)
{
    const char *full = "# full\n";
    const int descriptor = accept(listener, NULL, NULL);

    if (descriptor < 0) {
        if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) {
            return true;
        }
        atomic_fetch_add(&accept_errors, 1);
        perror("server: new connections wait");
        return false;
    }
    atomic_fetch_add(&accepted, 1);
    if (!add_connection(descriptor)) {
        atomic_fetch_add(&refused, 1);
        (void)!send(descriptor, full, strlen(full), MSG_DONTWAIT | MSG_NOSIGNAL);
        close_descriptor(descriptor);
    }
    return true;
}

/* --- commands --- */

/* What the asking client is told. */
static const char *kick(haft_id id)
{
    struct connection *kicked = haft_counted_acquire(connections, id);

    if (kicked == NULL) {
        atomic_fetch_add(&stale_names, 1);
        return haft_status_text(haft_counted_diagnose(connections, id));
    }
    const bool was_first = hang_up(kicked, id, "# kicked\n");

    haft_counted_release(connections, id);
    return was_first ? "kicked" : haft_status_text(HAFT_STALE);
}

static void remove_subscriber(size_t at)
{
    subscribers[at] = subscribers[--subscriber_count];
    atomic_fetch_add(&stale_subscribers, 1);
}

/* There is room: if the list is full, one of its ids is stale, for this one is not in it. */
static void subscribe(struct connection *connection, haft_id id)
{
    if (connection->subscribed) {
        return;
    }
    connection->subscribed = true;
    pthread_mutex_lock(&subscribing);
    for (size_t i = 0; subscriber_count == MOST_CONNECTIONS && i < MOST_CONNECTIONS; i++) {
        if (!haft_counted_is_live(connections, subscribers[i])) {
            remove_subscriber(i);
        }
    }
    subscribers[subscriber_count++] = id;
    pthread_mutex_unlock(&subscribing);
}

static void answer(struct connection *connection, haft_id id, const char *line)
{
    char text[LINE_SIZE + 2];

    if (strncmp(line, "echo ", 5) == 0) {
        snprintf(text, sizeof text, "%s\n", line + 5);
    } else if (strcmp(line, "id") == 0) {
        snprintf(text, sizeof text, "%" PRIx64 "\n", id.bits);
    } else if (strncmp(line, "kick ", 5) == 0) {
        snprintf(text, sizeof text, "%s\n", kick((haft_id){strtoull(line + 5, NULL, 16)}));
    } else if (strcmp(line, "subscribe") == 0) {
        subscribe(connection, id);
        snprintf(text, sizeof text, "subscribed\n");
    } else if (strcmp(line, "quit") == 0) {
        atomic_store(&ends, true);
        snprintf(text, sizeof text, "bye\n");
    } else {
        snprintf(text, sizeof text, "echo TEXT, id, kick ID, subscribe or quit\n");
    }
    send_line(connection, id, text);
}

/* All whole lines that have come.  False: one is too long. */
static bool answer_lines(struct connection *connection, haft_id id)
{
    char *end;

    while ((end = memchr(connection->line, '\n', connection->length)) != NULL) {
        const uint32_t taken = (uint32_t)(end - connection->line) + 1;

        *end = '\0';
        answer(connection, id, connection->line);
        connection->length -= taken;
        memmove(connection->line, end + 1, connection->length);
    }
    return connection->length < LINE_SIZE;
}

/* False: the connection is over. */
static bool read_some(struct connection *connection, haft_id id)
{
    const ssize_t count = recv(connection->descriptor, connection->line + connection->length,
                               LINE_SIZE - connection->length, MSG_DONTWAIT);

    if (count <= 0) {
        return count < 0 && (errno == EAGAIN || errno == EINTR);
    }
    connection->length += (uint32_t)count;
    return answer_lines(connection, id);
}

static void serve(haft_id id)
{
    struct connection *connection = haft_counted_acquire(connections, id);

    if (connection == NULL) {
        atomic_fetch_add(&stale_events, 1);
        return;
    }
    /* The kernel has one thread here at a time; exchange and store say so to C, and to checkers. */
    atomic_exchange(&connection->last_used, now_ms());
    const bool goes_on = read_some(connection, id);

    atomic_store(&connection->last_used, now_ms());
    if (!goes_on || !watch(EPOLL_CTL_MOD, connection->descriptor, id)) {
        haft_counted_free(connections, id);
    }
    haft_counted_release(connections, id);
}

/* --- threads --- */

static void *work(void *unused)
{
    uint64_t accept_at = 0; /* 0: the listener is watched */
    struct epoll_event event;

    while (!atomic_load(&ends)) {
        if (accept_at != 0 && now_ms() >= accept_at) {
            accept_at = 0;
            watch(EPOLL_CTL_MOD, listener, HAFT_NIL);
        }
        if (epoll_wait(epoll, &event, 1, 20) != 1) {
            continue;
        }
        const haft_id id = {event.data.u64};

        if (!haft_id_is_nil(id)) {
            serve(id);
        } else if (accept_one()) {
            watch(EPOLL_CTL_MOD, listener, HAFT_NIL);
        } else {
            accept_at = now_ms() + ACCEPT_PAUSE_MS;
        }
    }
    return unused;
}

/* A timer is due.  It is set again, or the connection ends: also if there is no memory for it. */
static void end_if_idle(haft_id id)
{
    struct connection *connection = haft_counted_acquire(connections, id);

    if (connection == NULL) {
        atomic_fetch_add(&stale_timers, 1);
        return;
    }
    /*
     * `now` is read first: in the other order a thread that sleeps between the two would end a
     * connection that is used meanwhile.  So the last use may be later than `now`: no subtraction.
     */
    const uint64_t now = now_ms();
    const uint64_t due = atomic_load(&connection->last_used) + idle_ms;

    if (due > now && timers_add(&timers, (struct timer){due, id})) {
        atomic_fetch_add(&not_idle, 1);
    } else if (hang_up(connection, id, "# idle\n")) {
        atomic_fetch_add(&idle, 1);
    }
    haft_counted_release(connections, id);
}

static void *expire(void *unused)
{
    while (!atomic_load(&ends)) {
        struct timer timer;

        while (timers_take_due(&timers, now_ms(), &timer)) {
            end_if_idle(timer.id);
        }
        pause_ms(TIMER_MS);
    }
    return unused;
}

static void *broadcast(void *unused)
{
    while (!atomic_load(&ends)) {
        pthread_mutex_lock(&subscribing);
        for (size_t i = 0; i < subscriber_count;) {
            const haft_id id = subscribers[i];
            struct connection *connection = haft_counted_acquire(connections, id);

            if (connection == NULL) {
                remove_subscriber(i);
                continue;
            }
            send_line(connection, id, "# tick\n");
            haft_counted_release(connections, id);
            i++;
        }
        pthread_mutex_unlock(&subscribing);
        pause_ms(tick_ms);
    }
    return unused;
}

/* On a port that the system chooses. */
static bool open_listener(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;

    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    epoll = epoll_create1(0);
    if (listener < 0 || epoll < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
        listen(listener, BACKLOG) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0 ||
        !watch(EPOLL_CTL_ADD, listener, HAFT_NIL)) {
        perror("server");
        return false;
    }
    printf("port %d\n", ntohs(address.sin_port));
    return fflush(stdout) == 0;
}

static bool run(void)
{
    void *(*const roles[])(void *) = {work, work, expire, broadcast};
    enum { THREADS = sizeof roles / sizeof roles[0] };
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, roles[i], NULL) != 0) {
            return false;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    return true;
}

static void print_counts(void)
{
    printf("%" PRIu64 " accepted, %" PRIu64 " closed, %" PRIu64 " close errors\n",
           atomic_load(&accepted), atomic_load(&closed), atomic_load(&close_errors));
    printf("%" PRIu64 " refused, %" PRIu64 " accept errors\n", atomic_load(&refused),
           atomic_load(&accept_errors));
    printf("%" PRIu64 " idle, %" PRIu64 " not idle when their timer was due\n", atomic_load(&idle),
           atomic_load(&not_idle));
    printf("%" PRIu64 " stale events, %" PRIu64 " stale timers, %" PRIu64
           " stale subscribers, %" PRIu64 " stale names\n",
           atomic_load(&stale_events), atomic_load(&stale_timers), atomic_load(&stale_subscribers),
           atomic_load(&stale_names));
}

int main(int argc, char **argv)
{
    const haft_counted_options options = {
        .name = "connections",
        .capacity = MOST_CONNECTIONS,
        .object_size = sizeof(struct connection),
        .first_generation = HAFT_RANDOM_GENERATION,
        .on_destroy = end_connection,
    };

    idle_ms = argc > 1 ? strtoull(argv[1], NULL, 10) : idle_ms;
    tick_ms = argc > 2 ? strtoull(argv[2], NULL, 10) : tick_ms;
    if (argc > 3 || idle_ms == 0 || tick_ms == 0) {
        fprintf(stderr, "Usage: server [IDLE_MS [TICK_MS]]\n");
        return 2;
    }
    if (haft_counted_open(&options, &connections) != HAFT_OK || !open_listener() || !run() ||
        haft_counted_close(connections) != HAFT_OK) {
        return 1;
    }
    free(timers.heap);
    close(listener);
    close(epoll);
    print_counts();
    const bool once =
        atomic_load(&accepted) == atomic_load(&closed) && atomic_load(&close_errors) == 0;

    return end_output("server", once ? 0 : 1, EXIT_LOST_OUTPUT);
}
