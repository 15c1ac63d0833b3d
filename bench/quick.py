"""The ratios of two subjects: what each stands for, and how it comes from the rates."""

import statistics

from measured import PEERS, Missing, Program

SIZE = 24  # bytes of an object


class Ratio:
    def __init__(self, name, meaning, compute):
        self.name = name
        self.meaning = meaning
        self.compute = compute  # a value for each repetition


def each_time(results, above, below):
    """The quotients of two rates, repetition by repetition."""
    pairs = zip(results.values(above), results.values(below))
    return [one / other for one, other in pairs]


def times(ours, other):
    """Time of `ours` / time of `other`: the rates the other way round."""
    return lambda results: each_time(results, other, ours)


def rates(ours, other):
    return lambda results: each_time(results, ours, other)


def slots_over_live(results):
    live, workers = 2 * 1024, 2
    peaks = results.values("churn/haft_workers/1024/2", "peak_slots")
    return [(peak - live) / workers for peak in peaks]


def slot_overhead(results):
    return [kept - SIZE for kept in results.values("memory/haft_workers/65536/1", "bytes_per_object")]


def ratios():
    workers = "churn/haft_workers/1024/"
    for size in (1024, 16384, 262144):
        yield Ratio(
            f"resolve_open_vs_raw_{size}",
            "time of a resolve in an open section / of an array index without check",
            times(f"resolve_open/haft_memb/{size}/1", f"resolve_open/raw/{size}/1"),
        )
    yield Ratio(
        "resolve_open_vs_compared_16384",
        "the same / of an index into plain memory that compares the id",
        times("resolve_open/haft_memb/16384/1", "resolve_open/compared/16384/1"),
    )
    yield Ratio(
        "resolve_each_memb_vs_raw_16384",
        "time of a resolve in a separate memb read section / of an array index",
        times("resolve_each/haft_memb/16384/1", "resolve_open/raw/16384/1"),
    )
    yield Ratio(
        "resolve_many_vs_one_4194304",
        "time of an id in haft_resolve_many / in haft_resolve; below 1: many is faster",
        times("resolve_many/haft_memb/4194304/1", "resolve_open/haft_memb/4194304/1"),
    )
    yield Ratio(
        "use_many_vs_one_4194304",
        "the same, with some hundred instructions for each object",
        times("use_many/haft_memb/4194304/1", "use_one/haft_memb/4194304/1"),
    )
    yield Ratio(
        "side_get_vs_resolve_16384",
        "time of a value beside an object / of a resolve; aim: 1.1",
        times("side_get/haft_side/16384/1", "side_get/haft_resolve/16384/1"),
    )
    for name, peer in (
        ("sharded_slab", "churn/sharded_slab/1024/1"),
        ("mimalloc", "churn/mimalloc/1024/1"),
        ("mutex", "churn/mutex/1024/1"),
    ):
        yield Ratio(
            f"churn1_vs_{name}",
            f"insert+free pairs a second on one thread / {name}'s",
            rates(workers + "1", peer),
        )
    yield Ratio(
        "churn2_vs_churn1",
        "pairs a second on two threads / on one; at most the cores that are free",
        rates(workers + "2", workers + "1"),
    )
    yield Ratio(
        "churn2_vs_sharded_slab",
        "pairs a second on two threads / sharded_slab's",
        rates(workers + "2", "churn/sharded_slab/1024/2"),
    )
    yield Ratio(
        "handoff_vs_sharded_slab",
        "pairs a second, inserted on one thread, freed on another / sharded_slab's",
        rates("handoff/haft_workers/512/2", "handoff/sharded_slab/512/2"),
    )
    yield Ratio(
        "read_under_churn_vs_alone",
        "time of a resolve beside a thread at full churn / alone",
        times("read_under_churn/haft_workers/16384/2", "read_alone/haft_workers/16384/1"),
    )
    for name, peer in (
        ("bare_steps", "hold/bare/1024/1"),
        ("mutex_count", "hold/mutex_count/1024/1"),
        ("weak_ptr", "hold/weak_ptr/1024/1"),
        ("sharded_slab", "hold/sharded_slab/1024/1"),
    ):
        yield Ratio(
            f"hold_vs_{name}",
            f"time in which a counted object is held and let go / by {name}",
            times("hold/haft_counted/1024/1", peer),
        )
    yield Ratio(
        "copy_vs_bare",
        "time of a copy of 8 bytes / of a load with a comparison",
        times("unwrap/haft_counted_copy/1024/1", "unwrap/bare/1024/1"),
    )
    for workload in ("get", "insert_free"):
        yield Ratio(
            f"typed_{workload}_vs_slotmap",
            "items a second of one thread's typed table / of Rust's slotmap",
            rates(f"{workload}/haft_typed/1024/1", f"{workload}/slotmap/1024/1"),
        )
    yield Ratio(
        "peak_slots_over_live_per_worker",
        "slots that two churning workers ever used beyond those live at once, for each worker",
        slots_over_live,
    )
    yield Ratio(
        "bytes_per_slot_overhead",
        "resident bytes for an object of 24 bytes, less these 24",
        slot_overhead,
    )


PROGRAMS = [
    Program("resolve", "resolve_open/(raw|compared|haft_memb)/(1024|16384|262144)/"
                       "|resolve_each/haft_memb/16384/|(resolve_open|resolve_many|use_one|use_many)/haft_memb/4194304/"),
    Program("side", "side_get/haft_(side|resolve)/16384/"),
    Program("churn", "churn/haft_workers/1024/[12]$|churn/(mimalloc|mutex)/1024/1$"),
    Program("local", "(get|insert_free)/haft_typed/1024/"),
    Program("counted", "hold/(haft_counted|bare|mutex_count|weak_ptr)/1024/1$"),
    Program("unwrap", "unwrap/(haft_counted_copy|bare)/1024/1$"),
    Program(PEERS, ["churn/sharded_slab/1024/1", "churn/sharded_slab/1024/2",
                    "hold/sharded_slab/1024/1", "handoff/sharded_slab/", "get/slotmap/1024/", "insert_free/slotmap/1024/"]),
    Program("handoff", "handoff/haft_workers/512/2$"),
    Program("reads", "/haft_workers/"),
    Program("memory", "/haft_workers/"),
]


def explain():
    """For --help."""
    return "\n".join(f"  {one.name}\n      {one.meaning}" for one in ratios())


def medians(results):
    """Those of one session."""
    return {one.name: round(statistics.median(one.compute(results)), 3) for one in ratios()}


def spread(results, ratio):
    """(median, lowest, highest): of the sessions' medians; of one session, of repetitions.  Sessions
    on other processors count for lowest and highest."""
    own, other = ([session[ratio.name] for session in results.context.get(which, [])
                   if ratio.name in session] for which in ("sessions", "elsewhere"))
    if len(own) <= 1:
        own = ratio.compute(results)
    found = statistics.median(own), min(own + other), max(own + other)
    return tuple(round(float(value), 3) for value in found)


def spreads(results, may_lack=False):
    """{name: spread}; figures may be older than a ratio."""
    found = {}
    for ratio in ratios():
        try:
            found[ratio.name] = spread(results, ratio)
        except Missing:
            if not may_lack:
                raise
    return found


def evaluate(results, published):
    """Beside each ratio the range that was published, and whether it overlaps this one."""
    known = spreads(published, may_lack=True) if published else {}
    said = {}
    for name, (median, lowest, highest) in spreads(results).items():
        said[name] = {"median": median, "lowest": lowest, "highest": highest}
        if name in known:
            _, low, high = known[name]
            said[name] |= {"published": [low, high], "overlaps": low <= highest and lowest <= high}
    return said
