/*
 * load - clients of the server, and what they make sure of:
 *
 *   load PORT clients COUNT IDLE_MS ROUNDS
 *                                     threads connect, subscribe, have lines echoed and kick each
 *                                     other and made-up ids: all lines are whole, and a connection
 *                                     ends with the reason; none is ended as idle that is not
 *   load PORT idle COUNT IDLE_MS      clients that say no more are ended, and not too early
 *   load PORT crowd COUNT             all connect before one speaks: each is served or refused
 *   load PORT deaf                    a client that does not read is cut off, and misses no line
 *   load PORT quit                    ends the server
 *
 * Exits with 1 if an answer was not what it should be, or did not come.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <haft/status.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, OPEN_AT_ONCE = 25, LINE_SIZE = 256, DEAF_LINES = 20000 };
enum { ANSWER_S = 60, CROWD_MS = 1000 };

static struct sockaddr_in address = {.sin_family = AF_INET};
static uint64_t clients_each;
static uint64_t idle_ms;
static uint64_t rounds;
static _Atomic uint64_t latest; /* an id of some thread's */
static _Atomic uint64_t wrong;
static _Atomic uint64_t served; /* to the end */
static _Atomic uint64_t ended;  /* by others, as idle, or refused */

struct client {
    int descriptor;
    size_t length;
    char buffer[LINE_SIZE];
    char reason[LINE_SIZE]; /* of the end: the server's line */
    uint64_t used;          /* ms: before it connected, or asked the last question with an answer */
    bool was_idle;          /* for IDLE_MS at some time, so it may be ended from then on */
    bool over;
};

static void say_wrong(const char *what, const char *text)
{
    atomic_fetch_add(&wrong, 1);
    fprintf(stderr, "load: %s: \"%s\"\n", what, text);
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* --- lines --- */

static void connect_client(struct client *client, int receive_bytes)
{
    const struct timeval longest = {.tv_sec = ANSWER_S};

    *client = (struct client){.used = now_ms(), .descriptor = socket(AF_INET, SOCK_STREAM, 0)};
    if (receive_bytes != 0) {
        setsockopt(client->descriptor, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    }
    setsockopt(client->descriptor, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    setsockopt(client->descriptor, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
    if (connect(client->descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        perror("load: connect");
        exit(1);
    }
}

/* False: the connection was ended; hear() finds the reason. */
static bool say(const struct client *client, const char *line)
{
    const ssize_t length = (ssize_t)strlen(line);

    return send(client->descriptor, line, (size_t)length, MSG_NOSIGNAL) == length;
}

/* Moves the first line of the buffer to `line`. */
static bool next_line(struct client *client, char line[LINE_SIZE])
{
    char *end = memchr(client->buffer, '\n', client->length);

    if (end == NULL) {
        return false;
    }
    const size_t taken = (size_t)(end - client->buffer) + 1;

    memcpy(line, client->buffer, taken);
    line[taken - 1] = '\0';
    client->length -= taken;
    memmove(client->buffer, end + 1, client->length);
    return true;
}

/* The next line that is no tick.  False: the server has ended the connection. */
static bool hear(struct client *client, char line[LINE_SIZE])
{
    while (!client->over) {
        if (next_line(client, line)) {
            if (line[0] != '#') {
                return true;
            }
            if (strcmp(line, "# tick") != 0) {
                strcpy(client->reason, line);
                client->over = true;
            }
            continue;
        }
        const ssize_t count = recv(client->descriptor, client->buffer + client->length,
                                   sizeof client->buffer - client->length, 0);

        if (count < 0 && errno == EAGAIN) {
            fprintf(stderr, "load: no answer in %d s\n", ANSWER_S);
            exit(1);
        }
        if (count <= 0) {
            client->over = true;
            strcpy(client->reason, "cut off");
            return false;
        }
        client->length += (size_t)count;
    }
    return false;
}

static bool is_idle(const struct client *client)
{
    return now_ms() - client->used >= idle_ms;
}

/* False: the connection is over. */
static bool ask(struct client *client, const char *question, char line[LINE_SIZE])
{
    const uint64_t asked = now_ms();

    say(client, question);
    const bool heard = hear(client, line);

    client->was_idle = client->was_idle || is_idle(client);
    client->used = heard ? asked : client->used;
    return heard;
}

/* --- clients --- */

static void echo(struct client *client, uint64_t number)
{
    char question[LINE_SIZE];
    char line[LINE_SIZE];

    snprintf(question, sizeof question, "echo line %" PRIu64 "\n", number);
    if (ask(client, question, line)) {
        question[strlen(question) - 1] = '\0';
        if (strcmp(line, question + 5) != 0) {
            say_wrong("no echo", line);
        }
    }
}

static bool answers_kick(const char *line)
{
    for (int status = HAFT_NO_ID; status <= HAFT_EXHAUSTED; status++) {
        if (strcmp(line, haft_status_text((haft_status)status)) == 0) {
            return true;
        }
    }
    return strcmp(line, "kicked") == 0;
}

static void kick(struct client *client, uint64_t id)
{
    char question[LINE_SIZE];
    char line[LINE_SIZE];

    snprintf(question, sizeof question, "kick %" PRIx64 "\n", id);
    if (ask(client, question, line) && !answers_kick(line)) {
        say_wrong("no answer to a kick", line);
    }
}

static void begin(struct client *client, uint64_t number)
{
    char line[LINE_SIZE];

    connect_client(client, 0);
    if (ask(client, "subscribe\n", line) && strcmp(line, "subscribed") != 0) {
        say_wrong("not subscribed", line);
    }
    if (ask(client, "id\n", line)) {
        const uint64_t other = atomic_exchange(&latest, strtoull(line, NULL, 16));

        if (number % 5 == 0) {
            kick(client, other);
        }
    }
}

static void end(struct client *client)
{
    close(client->descriptor);
    atomic_fetch_add(client->over ? &ended : &served, 1);
    if (client->over && strcmp(client->reason, "# kicked") != 0 &&
        strcmp(client->reason, "# full") != 0 &&
        !(strcmp(client->reason, "# idle") == 0 && client->was_idle)) {
        say_wrong("ended", client->reason);
    }
}

static void *be_clients(void *unused)
{
    struct client clients[OPEN_AT_ONCE];

    for (uint64_t begun = 0; begun < clients_each; begun += OPEN_AT_ONCE) {
        for (uint64_t i = 0; i < OPEN_AT_ONCE; i++) {
            begin(&clients[i], begun + i);
        }
        for (uint64_t round = 1; round <= rounds; round++) {
            for (uint64_t i = 0; i < OPEN_AT_ONCE; i++) {
                echo(&clients[i], begun + i);
                kick(&clients[i], atomic_load(&latest) ^ round << 40);
            }
        }
        for (uint64_t i = 0; i < OPEN_AT_ONCE; i++) {
            end(&clients[i]);
        }
    }
    return unused;
}

static void run_clients(uint64_t count)
{
    pthread_t threads[THREADS];

    clients_each = count / THREADS;
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, be_clients, NULL) != 0) {
            exit(1);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* --- special ones --- */

static struct client *connect_all(uint64_t count)
{
    struct client *clients = calloc(count, sizeof *clients);

    if (clients == NULL) {
        exit(1);
    }
    for (uint64_t i = 0; i < count; i++) {
        connect_client(&clients[i], 0);
    }
    return clients;
}

static void run_idle(uint64_t count)
{
    struct client *clients = connect_all(count);
    char line[LINE_SIZE];

    for (uint64_t i = 0; i < count; i++) {
        echo(&clients[i], i);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (hear(&clients[i], line)) {
            say_wrong("nothing was asked", line);
        }
        clients[i].was_idle = clients[i].was_idle || is_idle(&clients[i]);
        end(&clients[i]);
    }
    free(clients);
}

/* Each is closed once it is answered: then the server has descriptors for those that wait. */
static void run_crowd(uint64_t count)
{
    struct client *clients = connect_all(count);

    poll(NULL, 0, CROWD_MS);
    for (uint64_t i = 0; i < count; i++) {
        echo(&clients[i], i);
        end(&clients[i]);
    }
    free(clients);
}

static void run_deaf(void)
{
    struct client client;
    char line[LINE_SIZE];
    uint64_t heard = 0;

    connect_client(&client, 4096);
    for (int i = 0; i < DEAF_LINES; i++) {
        snprintf(line, sizeof line, "echo %0200d\n", i);
        if (!say(&client, line)) {
            break;
        }
    }
    struct pollfd cut_off = {.fd = client.descriptor, .events = POLLRDHUP};

    if (poll(&cut_off, 1, ANSWER_S * 1000) != 1) {
        say_wrong("deaf", "was not cut off");
    }
    for (; hear(&client, line); heard++) {
        if (strlen(line) != 200 || strtoull(line, NULL, 10) != heard) {
            say_wrong("torn or lost before", line);
            break;
        }
    }
    close(client.descriptor);
    printf("%" PRIu64 " lines until it was cut off\n", heard);
}

/* The server may still be busy to end a crowd. */
static void run_quit(void)
{
    struct client client;
    char line[LINE_SIZE];
    bool asked;

    do {
        connect_client(&client, 0);
        asked = ask(&client, "quit\n", line);
        close(client.descriptor);
    } while (!asked && strcmp(client.reason, "# full") == 0);
    if (!asked || strcmp(line, "bye") != 0) {
        say_wrong("no bye", asked ? line : client.reason);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";
    const uint64_t count = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;

    idle_ms = argc > 4 ? strtoull(argv[4], NULL, 10) : UINT64_MAX;
    rounds = argc > 5 ? strtoull(argv[5], NULL, 10) : 0;
    address.sin_port = htons((uint16_t)(argc > 1 ? strtoul(argv[1], NULL, 10) : 0));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (strcmp(what, "clients") == 0 && argc > 5 && count % (THREADS * OPEN_AT_ONCE) == 0) {
        run_clients(count);
    } else if (strcmp(what, "idle") == 0 && argc > 4) {
        run_idle(count);
    } else if (strcmp(what, "crowd") == 0) {
        run_crowd(count);
    } else if (strcmp(what, "deaf") == 0) {
        run_deaf();
    } else if (strcmp(what, "quit") == 0) {
        run_quit();
    } else {
        fprintf(stderr,
                "Usage: load PORT clients COUNT IDLE_MS ROUNDS | idle COUNT IDLE_MS | crowd COUNT "
                "| deaf "
                "| quit; COUNT of clients a multiple of %d\n",
                THREADS * OPEN_AT_ONCE);
        return 2;
    }
    printf("%s: %" PRIu64 " served, %" PRIu64 " ended by the server, %" PRIu64 " wrong\n", what,
           atomic_load(&served), atomic_load(&ended), atomic_load(&wrong));
    return fflush(stdout) != 0 || atomic_load(&wrong) != 0;
}
