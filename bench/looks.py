"""What the plots show, and how: each subject has one colour in all of them."""

import collections

Look = collections.namedtuple("Look", "colour marker line")
Over = collections.namedtuple("Over", "name workload items size subjects")  # over threads
Sizes = collections.namedtuple("Sizes", "name series sizes")  # series: of (workload, subject)

OURS, PEER, BOUND = "-", "--", ":"  # a bound is no peer: nothing can beat it

LOOKS = {
    "raw": Look("#000000", "x", BOUND),
    # haft's
    "haft_workers": Look("#1f4fb4", "o", OURS),
    "haft_qsbr_caller": Look("#00a6a6", "s", OURS),
    "haft_qsbr_thread": Look("#6a3fb5", "s", OURS),
    "haft_memb_caller": Look("#1b8a3a", "^", OURS),
    "haft_memb_thread": Look("#8fbf00", "^", OURS),
    "haft_frame": Look("#5f7fa8", "o", OURS),
    "haft_local": Look("#4d9fff", "D", OURS),
    "haft_packed": Look("#0b3c73", "P", OURS),
    # peers
    "sharded_slab": Look("#d62728", "v", PEER),
    "slotmap": Look("#8c4a2f", "<", PEER),
    "mutex": Look("#9467bd", ">", PEER),
    "spin_lock": Look("#5a2d82", "1", PEER),
    "mutex_slotmap": Look("#c9885b", "2", PEER),
    "read_write_lock": Look("#c77fd1", "H", PEER),
    "entry_mutex": Look("#e377c2", "h", PEER),
    "lfht_memb": Look("#6e6e6e", "p", PEER),
    "tbb": Look("#b8a400", "*", PEER),
    "malloc": Look("#ff9f40", (4, 1, 0), PEER),
    "mimalloc": Look("#e4580b", "+", PEER),
    "weak_ptr": Look("#a0785a", "d", PEER),
    "unordered_map": Look("#ff7f7f", "8", PEER),
    "map": Look("#a6a6a6", "X", PEER),
}
# The same table with another clock or lock, which a resolve does not use.
SAME = {"haft_memb": "haft_memb_caller", "haft_qsbr": "haft_qsbr_caller",
        "rwlock_slotmap": "slotmap"}

TABLES = ["haft_workers", "haft_qsbr_caller", "haft_memb_caller", "sharded_slab", "mutex", "spin_lock",
          "mutex_slotmap", "rwlock_slotmap", "entry_mutex", "lfht_memb", "tbb", "malloc", "mimalloc"]
OVER_THREADS = [Over("churn.png", "churn", "pairs", 1024, TABLES),
                Over("replace.png", "replace", "replacements", 65536, TABLES)]
THREADS = [1, 2, 4, 8]
OVER_SIZES = [
    Sizes("resolve.png",
          [("resolve_open", "raw"), ("resolve_open", "haft_memb"), ("resolve_each", "haft_qsbr"),
           ("resolve_each", "haft_memb"), ("resolve_each", "sharded_slab"),
           ("resolve_each", "mutex"), ("resolve_each", "lfht_memb"), ("resolve_each", "tbb"),
           ("resolve_each", "weak_ptr")],
          [1024, 16384, 262144, 4194304]),
    Sizes("get.png",
          [("get", subject) for subject in
           ("raw", "haft_local", "haft_packed", "slotmap", "unordered_map", "map")],
          [1024, 16384, 65536, 262144, 1048576]),
]
READS = ["haft_workers", "haft_qsbr_caller", "haft_memb_caller", "mutex", "read_write_lock",
         "entry_mutex", "lfht_memb", "tbb"]
BACKLOG = ["haft_workers", "haft_qsbr_caller", "haft_qsbr_thread", "haft_memb_caller",
           "haft_memb_thread"]


# Of bench/growth.cc: tables by colour, calls by line.
GROWTH = {"raw": "#000000", "haft_local": "#4d9fff", "haft_table": "#1f4fb4", "haft_counted": "#1b8a3a",
          "haft_open": "#1f4fb4", "haft_parked": "#d62728"}
GROWTH_LINES = [Look("", "o", "-"), Look("", "s", "--"), Look("", "^", ":")]

# Of bench/pauses.cc.
PAUSES = {
    "no_table": Look("#000000", "x", BOUND),
    "no_on_reclaim": Look("#6e6e6e", "x", BOUND),
    "haft_workers": LOOKS["haft_workers"],
    "haft_batches_of_32": Look("#1b8a3a", "s", OURS),
    "haft_batches_of_8": Look("#00a6a6", "^", OURS),
    "haft_counted": Look("#0b3c73", "P", OURS),
    "mutex": LOOKS["mutex"],
    "sharded_slab": LOOKS["sharded_slab"],
    "lfht_memb": LOOKS["lfht_memb"],
    "tbb": LOOKS["tbb"],
}


def look_of(subject):
    return LOOKS[SAME.get(subject, subject)]


def shown():
    """Every subject in any plot."""
    lists = [plot.subjects for plot in OVER_THREADS] + [READS, BACKLOG]
    lists += [[subject for _, subject in plot.series] for plot in OVER_SIZES]
    return {subject for subjects in lists for subject in subjects}
