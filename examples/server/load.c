/*
 * load - clients of the server: load PORT [CONNECTIONS].  Threads connect, ask for their id, have
 * lines echoed, and kick a connection of another thread now and then, or one that they make up.
 * Exits with 1 if an answer was not what it should be.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { THREADS = 4, OPEN_AT_ONCE = 8, ECHOES = 3, LINE_SIZE = 256 };

static struct sockaddr_in address = {.sin_family = AF_INET};
static uint64_t connections_each;
static _Atomic uint64_t latest; /* an id of some thread's */
static _Atomic uint64_t wrong;
static _Atomic uint64_t kicked; /* connections that were ended by others */
static _Atomic uint64_t whole;

struct client {
    int descriptor;
    size_t length;
    char buffer[LINE_SIZE];
};

/* --- lines --- */

static bool say(const struct client *client, const char *line)
{
    const ssize_t length = (ssize_t)strlen(line);

    return send(client->descriptor, line, (size_t)length, MSG_NOSIGNAL) == length;
}

/* The next line that is no tick; false at the end of the connection. */
static bool hear(struct client *client, char line[LINE_SIZE])
{
    for (;;) {
        char *end = memchr(client->buffer, '\n', client->length);

        if (end != NULL) {
            const size_t taken = (size_t)(end - client->buffer) + 1;

            memcpy(line, client->buffer, taken);
            line[taken - 1] = '\0';
            client->length -= taken;
            memmove(client->buffer, end + 1, client->length);
            if (line[0] != '#') {
                return true;
            }
            continue;
        }
        const ssize_t count = recv(client->descriptor, client->buffer + client->length,
                                   sizeof client->buffer - client->length, 0);

        if (count <= 0) {
            return false;
        }
        client->length += (size_t)count;
    }
}

/* False: the connection was ended. */
static bool ask(struct client *client, const char *question, char line[LINE_SIZE])
{
    return say(client, question) && hear(client, line);
}

/* --- a client's life --- */

static bool echo(struct client *client, uint64_t number)
{
    char question[LINE_SIZE];
    char line[LINE_SIZE];

    snprintf(question, sizeof question, "echo line %" PRIu64 "\n", number);
    if (!ask(client, question, line)) {
        return false;
    }
    question[strlen(question) - 1] = '\0';
    if (strcmp(line, question + 5) != 0) {
        atomic_fetch_add(&wrong, 1);
    }
    return true;
}

static bool kick(struct client *client, uint64_t id)
{
    char question[LINE_SIZE];
    char line[LINE_SIZE];

    snprintf(question, sizeof question, "kick %" PRIx64 "\n", id);
    return ask(client, question, line);
}

static bool live(struct client *client, uint64_t number)
{
    char line[LINE_SIZE];

    if (!ask(client, "id\n", line)) {
        return false;
    }
    const uint64_t other = atomic_exchange(&latest, strtoull(line, NULL, 16));

    for (uint64_t i = 0; i < ECHOES; i++) {
        if (!echo(client, number * ECHOES + i)) {
            return false;
        }
    }
    return number % 5 != 0 || (kick(client, other) && kick(client, other ^ number << 32));
}

static bool connect_client(struct client *client)
{
    client->length = 0;
    client->descriptor = socket(AF_INET, SOCK_STREAM, 0);
    return client->descriptor >= 0 &&
           connect(client->descriptor, (struct sockaddr *)&address, sizeof address) == 0;
}

static void *be_clients(void *unused)
{
    struct client clients[OPEN_AT_ONCE];

    for (uint64_t begun = 0; begun < connections_each; begun += OPEN_AT_ONCE) {
        for (int i = 0; i < OPEN_AT_ONCE; i++) {
            if (!connect_client(&clients[i])) {
                atomic_fetch_add(&wrong, 1);
            }
        }
        for (int i = 0; i < OPEN_AT_ONCE; i++) {
            atomic_fetch_add(live(&clients[i], begun + (uint64_t)i) ? &whole : &kicked, 1);
        }
        for (int i = 0; i < OPEN_AT_ONCE; i++) {
            close(clients[i].descriptor);
        }
    }
    return unused;
}

int main(int argc, char **argv)
{
    const uint64_t total = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000;
    pthread_t threads[THREADS];
    struct client last;

    if (argc < 2 || total == 0 || total % (THREADS * OPEN_AT_ONCE) != 0) {
        fprintf(stderr, "Usage: load PORT [CONNECTIONS], a multiple of %d\n",
                THREADS * OPEN_AT_ONCE);
        return 2;
    }
    address.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connections_each = total / THREADS;
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, be_clients, NULL) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%" PRIu64 " connections served, %" PRIu64 " ended by others, %" PRIu64 " wrong\n",
           atomic_load(&whole), atomic_load(&kicked), atomic_load(&wrong));
    const bool asked = connect_client(&last) && say(&last, "quit\n");

    return !asked || fflush(stdout) != 0 || atomic_load(&wrong) != 0 || atomic_load(&whole) == 0;
}
