/*
 * server - lines over TCP on the loopback interface, by two threads, a timer and a broadcaster that
 * share a table of connections.
 *
 * A connection is named by its id everywhere: in epoll's events, by the timer that ends idle ones,
 * by the broadcaster, and by clients, which may name others and make ids up.  Its descriptor is
 * closed in on_destroy, so exactly once, when no thread writes to it any more.
 *
 *   echo TEXT     the text
 *   id            the connection's id
 *   kick ID       ends the connection with that id: "kicked", or why not
 *   quit          ends the server
 */
#include "examples/screen/output.h"
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

enum { WORKERS = 2, MOST_CONNECTIONS = 512, LINE_SIZE = 256, BACKLOG = 128 };
enum { BROADCAST_MS = 20, IDLE_MS = 30000 };

struct connection {
    int descriptor;
    uint32_t length;            /* of the line so far: its reader's alone */
    _Atomic uint64_t last_used; /* ms */
    char line[LINE_SIZE];
};

static haft_counted *connections;
static int epoll;
static int listener;
static atomic_bool ends;
static _Atomic uint64_t accepted;
static _Atomic uint64_t closed;
static _Atomic uint64_t refused; /* no room in the table */
static _Atomic uint64_t stale;   /* events and names of connections that were gone */

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

/* The last thread that held it lets go: no other uses the descriptor. */
static void end_connection(void *object, haft_id id, void *arg)
{
    const struct connection *connection = object;

    (void)id;
    (void)arg;
    if (close(connection->descriptor) == 0) {
        atomic_fetch_add(&closed, 1);
    }
}

/* A client that reads nothing loses lines: no thread waits for it. */
static void send_text(const struct connection *connection, const char *text)
{
    (void)!send(connection->descriptor, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* One event at a time for each connection: armed again when its lines are answered. */
static bool watch(int operation, int descriptor, haft_id id)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT, .data.u64 = id.bits};

    return epoll_ctl(epoll, operation, descriptor, &event) == 0;
}

static void accept_one(void)
{
    const int descriptor = accept(listener, NULL, NULL);
    const int at_once = 1;
    struct connection *connection;
    void *object;
    haft_id id;

    if (descriptor < 0) {
        return;
    }
    if (haft_counted_reserve(connections, &id, &object) != HAFT_OK) {
        atomic_fetch_add(&refused, 1);
        close(descriptor);
        return;
    }
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    connection = object;
    connection->descriptor = descriptor;
    connection->length = 0;
    atomic_init(&connection->last_used, now_ms());
    atomic_fetch_add(&accepted, 1);
    haft_counted_publish(connections, id);
    if (haft_counted_acquire(connections, id) != NULL) { /* else kicked already, and closed */
        if (!watch(EPOLL_CTL_ADD, descriptor, id)) {
            haft_counted_free(connections, id);
        }
        haft_counted_release(connections, id);
    }
}

/* --- commands --- */

static void kick(const struct connection *asking, const char *name)
{
    haft_id id = {strtoull(name, NULL, 16)};
    const struct connection *kicked = haft_counted_acquire(connections, id);

    if (kicked == NULL) {
        atomic_fetch_add(&stale, 1);
        send_text(asking, haft_status_text(haft_counted_diagnose(connections, id)));
        send_text(asking, "\n");
        return;
    }
    haft_counted_free(connections, id);
    shutdown(kicked->descriptor, SHUT_RDWR); /* it is still open: this thread holds it */
    haft_counted_release(connections, id);
    send_text(asking, "kicked\n");
}

static void answer(const struct connection *connection, haft_id id, const char *line)
{
    char text[LINE_SIZE + 2];

    if (strncmp(line, "echo ", 5) == 0) {
        snprintf(text, sizeof text, "%s\n", line + 5);
        send_text(connection, text);
    } else if (strcmp(line, "id") == 0) {
        snprintf(text, sizeof text, "%" PRIx64 "\n", id.bits);
        send_text(connection, text);
    } else if (strncmp(line, "kick ", 5) == 0) {
        kick(connection, line + 5);
    } else if (strcmp(line, "quit") == 0) {
        atomic_store(&ends, true);
    } else {
        send_text(connection, "echo TEXT, id, kick ID or quit\n");
    }
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
        atomic_fetch_add(&stale, 1);
        return;
    }
    /* The kernel has one thread here at a time; the two operations say so to C, and to checkers. */
    atomic_load(&connection->last_used);
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
    struct epoll_event event;

    while (!atomic_load(&ends)) {
        if (epoll_wait(epoll, &event, 1, 20) == 1) {
            const haft_id id = {event.data.u64};

            if (haft_id_is_nil(id)) {
                accept_one();
                watch(EPOLL_CTL_MOD, listener, HAFT_NIL);
            } else {
                serve(id);
            }
        }
    }
    return unused;
}

/* Says the time to all, and ends those that have said nothing for long. */
static void *broadcast(void *unused)
{
    while (!atomic_load(&ends)) {
        haft_counted_cursor cursor = {0};
        haft_id id;
        void *object;

        while (haft_counted_cursor_next(connections, &cursor, &id, &object)) {
            struct connection *connection = object;

            send_text(connection, "# tick\n");
            if (now_ms() - atomic_load(&connection->last_used) > IDLE_MS) {
                haft_counted_free(connections, id);
            }
            haft_counted_release(connections, id);
        }
        pause_ms(BROADCAST_MS);
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
    pthread_t threads[WORKERS + 1];

    for (int i = 0; i <= WORKERS; i++) {
        if (pthread_create(&threads[i], NULL, i < WORKERS ? work : broadcast, NULL) != 0) {
            return false;
        }
    }
    for (int i = 0; i <= WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    return true;
}

int main(void)
{
    const haft_counted_options options = {
        .name = "connections",
        .capacity = MOST_CONNECTIONS,
        .object_size = sizeof(struct connection),
        .first_generation = HAFT_RANDOM_GENERATION,
        .on_destroy = end_connection,
    };

    if (haft_counted_open(&options, &connections) != HAFT_OK || !open_listener() || !run() ||
        haft_counted_close(connections) != HAFT_OK) {
        return 1;
    }
    close(listener);
    close(epoll);
    printf("%" PRIu64 " connections, %" PRIu64 " closed, %" PRIu64 " refused, %" PRIu64
           " names of gone ones\n",
           atomic_load(&accepted), atomic_load(&closed), atomic_load(&refused),
           atomic_load(&stale));
    return end_output("server", atomic_load(&accepted) == atomic_load(&closed) ? 0 : 1,
                      EXIT_LOST_OUTPUT);
}
