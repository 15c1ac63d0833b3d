/* Functions whose names stand in texts about places. */
#include "tests/slots/spawn.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

haft_id spawn(struct subject *subject)
{
    haft_id id = HAFT_NIL;
    const uint64_t object = 7;

    assert_status(subject->kind == LOCAL ? haft_local_insert(subject->local, &object, &id)
                                         : haft_insert(subject->shared.worker, &object, &id),
                  HAFT_OK);
    return id;
}

haft_id spawn_reserved(struct subject *subject)
{
    haft_id id = HAFT_NIL;

    assert_status(subject->kind == LOCAL ? haft_local_reserve(subject->local, &id, NULL)
                                         : haft_reserve(subject->shared.worker, &id, NULL),
                  HAFT_OK);
    return id;
}

haft_recorder *spawn_later(haft_commands *commands)
{
    haft_recorder *recorder = NULL;

    assert_status(haft_recorder_open(commands, 1, 2, &recorder), HAFT_OK);
    return recorder;
}

void carry_out(haft_commands *commands)
{
    assert_status(haft_commands_apply(commands, NULL), HAFT_OK);
}

void sink(struct subject *subject, haft_id id)
{
    assert_status(subject->kind == LOCAL ? haft_local_free(subject->local, id)
                                         : haft_free(subject->shared.worker, id),
                  HAFT_OK);
}

haft_table_options with_places(void)
{
    const haft_table_options options = {
        .name = "ships", .capacity = 10, .object_size = 8, .sites = true};

    return options;
}

struct subject open_with_places(int kind)
{
    const haft_table_options options = with_places();

    return subject_open(kind, &options);
}

void line_of(void (*act)(struct subject *subject), struct subject *subject, char *line, int size)
{
    FILE *file = tmpfile();

    cr_assert(ne(ptr, file, NULL));
    const pid_t child = fork();

    if (child == 0) {
        dup2(fileno(file), 2);
        act(subject);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    rewind(file);
    cr_assert(ne(ptr, fgets(line, size, file), NULL));
    fclose(file);
}
