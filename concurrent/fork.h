/* concurrent/fork.h - all domains and tables of the process, for the sake of a fork: see fork.c. */
#ifndef HAFT_CONCURRENT_FORK_H
#define HAFT_CONCURRENT_FORK_H

/* One of them in its list. */
struct listed {
    struct listed *next;
    struct listed **link; /* what points here */
    void *what;
};

void list_domain(struct listed *listed, void *domain);
void list_table(struct listed *listed, void *table);
void unlist(struct listed *listed);

#endif /* HAFT_CONCURRENT_FORK_H */
