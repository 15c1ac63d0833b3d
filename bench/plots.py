"""The plots of docs/performance.md."""

import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402  (after the choice of what draws)

STYLES = ["o-", "s-", "^-", "D-", "v--", "<--", ">--", "p--", "*:", "x:", "+:"]


def points(results, workload, subject, cases):
    """(x, rate) for each (x, size, threads) that was measured."""
    found = [(x, results.rate(f"{workload}/{subject}/{size}/{threads}"))
             for x, size, threads in cases]
    return [(x, rate) for x, rate in found if rate]


def finish(axes, folder, name):
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    axes.figure.tight_layout()
    axes.figure.savefig(os.path.join(folder, name), dpi=110, metadata={"Software": None})
    plot.close(axes.figure)


def over_threads(results, folder, name, workload, size, subjects):
    axes = plot.subplots(figsize=(9, 4.5))[1]
    for style, subject in zip(STYLES, subjects):
        found = points(results, workload, subject, [(n, size, n) for n in (1, 2, 4, 8)])
        if found:
            axes.plot(*zip(*found), style, label=subject)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks([1, 2, 4, 8], ["1", "2", "4", "8"])
    axes.set_xlabel(f"threads ({results.context['cores']} cores)")
    axes.set_ylabel(f"{workload}: items a second")
    finish(axes, folder, name)


def over_size(results, folder, name, series, sizes):
    axes = plot.subplots(figsize=(9, 4.5))[1]
    for style, (workload, subject) in zip(STYLES, series):
        found = points(results, workload, subject, [(size, size, 1) for size in sizes])
        if found:
            x, rates = zip(*found)
            axes.plot(x, [1e9 / rate for rate in rates], style, label=f"{workload} {subject}")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("objects")
    axes.set_ylabel("nanoseconds an id")
    finish(axes, folder, name)


def reads(results, folder, name):
    size = 16384
    subjects = ["haft_workers", "haft_qsbr_caller", "haft_memb_caller", "mutex",
                "read_write_lock", "entry_mutex", "lfht_memb", "tbb"]
    axes = plot.subplots(figsize=(9, 4.5))[1]
    for shift, (workload, threads) in ((-0.2, ("read_alone", 1)), (0.2, ("read_under_churn", 2))):
        found = [(at + shift, results.rate(f"{workload}/{subject}/{size}/{threads}"))
                 for at, subject in enumerate(subjects)]
        found = [one for one in found if one[1]]
        if found:
            axes.bar(*zip(*found), width=0.4, label=workload)
    axes.set_yscale("log")
    axes.set_xticks(range(len(subjects)), subjects, rotation=30, ha="right", fontsize=8)
    axes.set_ylabel("ids a second")
    finish(axes, folder, name)


def backlog(results, folder, name):
    axes = plot.subplots(figsize=(9, 4.5))[1]
    for subject in ("haft_workers", "haft_qsbr_caller", "haft_qsbr_thread", "haft_memb_caller",
                    "haft_memb_thread"):
        series = results.series(f"backlog/{subject}/1024/2")
        if series:
            axes.plot(*series, linewidth=1, label=subject)
            end = series[0][-1]
    if not axes.lines:
        plot.close(axes.figure)
        return
    axes.axvspan(0.4 * end, 0.6 * end, color="black", alpha=0.1)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("milliseconds (shaded: a reader stays in its section)")
    axes.set_ylabel("slots that wait for reuse")
    finish(axes, folder, name)


def write(results, folder):
    os.makedirs(folder, exist_ok=True)
    tables = ["haft_workers", "haft_qsbr_caller", "haft_memb_caller", "sharded_slab", "mutex",
              "rwlock_slotmap", "entry_mutex", "lfht_memb", "tbb", "malloc", "mimalloc"]
    over_threads(results, folder, "churn.png", "churn", 1024, tables)
    over_threads(results, folder, "replace.png", "replace", 65536, tables)
    over_size(results, folder, "resolve.png",
              [("resolve_open", "raw"), ("resolve_open", "haft_memb"),
               ("resolve_each", "haft_qsbr"), ("resolve_each", "haft_memb"),
               ("resolve_each", "sharded_slab"), ("resolve_each", "mutex"),
               ("resolve_each", "lfht_memb"), ("resolve_each", "tbb"),
               ("resolve_each", "weak_ptr")],
              [1024, 16384, 262144, 4194304])
    over_size(results, folder, "get.png",
              [("get", subject) for subject in
               ("raw", "haft_local", "haft_packed", "slotmap", "unordered_map", "map")],
              [1024, 16384, 65536, 262144, 1048576])
    reads(results, folder, "reads.png")
    backlog(results, folder, "backlog.png")
