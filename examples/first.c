/* first.c - one thread holds an object while another frees it. */
#include "haft.h"
#include <pthread.h>
#include <stdio.h>

static haft_counted *prices;
static haft_id id;

static void *sell(void *unused)
{
    haft_counted_free(prices, id); /* any thread, no set-up */
    return unused;
}

int main(void)
{
    const haft_counted_options options = {.capacity = 1000, .object_size = sizeof(double)};
    pthread_t seller;

    if (haft_counted_open(&options, &prices) || haft_counted_insert(prices, &(double){9.5}, &id)) {
        return 1;
    }
    const double *price = haft_counted_acquire(prices, id);

    if (price == NULL || pthread_create(&seller, NULL, sell, NULL) != 0) {
        return 1;
    }
    pthread_join(seller, NULL);
    printf("%.1f can still be read;", *price); /* until the last holder lets go: */
    printf(" its id: %s\n", haft_status_text(haft_counted_diagnose(prices, id)));
    haft_counted_release(prices, id);
    haft_counted_close(prices);
    return fflush(stdout) != 0;
}
