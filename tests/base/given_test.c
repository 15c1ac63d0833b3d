/* White-box: memory that is cut from what the program has given, and the body of a saved table. */
#include "kit/local/files/saved.h"
#include "lib/base/given.h"
#include "lib/base/reservation.h"
#include "tests/support.h"
#include <string.h>

TestSuite(given_take, .timeout = SUITE_SECONDS);
TestSuite(saved_body, .timeout = SUITE_SECONDS);

Test(given_take, of_more_than_is_left_takes_nothing)
{
    static _Alignas(64) char memory[100];

    memset(memory, 0xff, sizeof memory);
    struct given given = given_of(memory + 1, sizeof memory - 1);

    cr_expect(eq(ptr, given_take(&given, 10, 64), memory + 64));
    cr_expect(zero(ptr, given_take(&given, 27, 1))); /* one byte too many */
    cr_expect(zero(ptr, given_take(&given, 0, 64))); /* the next multiple lies behind the end */
    cr_expect(eq(ptr, given_take(&given, 26, 1), memory + 74));
    cr_expect(zero(ptr, given_take(&given, 1, 1)));
    cr_expect(eq(int, memory[63], (char)0xff));
    cr_expect(zero(int, memory[64] | memory[99]));
}

Test(given_take, that_measures_refuses_what_no_memory_has)
{
    struct given given = given_to_measure();

    cr_expect(zero(ptr, given_take(&given, UINT64_MAX - 7, 8)));
    cr_expect(zero(u64, given.measured));
    cr_expect(not(zero(ptr, given_take(&given, UINT64_MAX - 100, 8))));
    cr_expect(eq(u64, given.measured, UINT64_MAX - 93));
    cr_expect(zero(ptr, given_take(&given, 87, 8))); /* 94 bytes, wherever they begin */
    cr_expect(eq(u64, given.measured, UINT64_MAX - 93));
    cr_expect(not(zero(ptr, given_take(&given, 86, 8))));
    cr_expect(eq(u64, given.measured, UINT64_MAX));
}

Test(given_take, for_an_array_without_enough_is_no_memory)
{
    static _Alignas(8) char memory[100];
    struct given given = given_of(memory, sizeof memory);
    struct reservation array;

    expect_status(reservation_open_given(&array, 101, 8, &given), HAFT_NO_MEMORY);
    expect_status(reservation_open_given(&array, 100, 8, &given), HAFT_OK);
    cr_expect(eq(ptr, array.base, memory));
}

Test(saved_body, ends_where_the_head_says_and_the_file_is_read_no_further)
{
    haft_file file = {.offset = 260}; /* without functions: nothing is read */
    struct saved saved;
    uint64_t number = 7;

    saved_begin_read(&saved, &file, 0);
    expect_status(saved_read_number(&saved, &number, "a number"), HAFT_DAMAGED);
    cr_expect(eq(str, (char *)file.what, "a number"));
    cr_expect(eq(u64, file.offset, 260));
}
