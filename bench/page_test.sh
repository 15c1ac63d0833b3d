#!/bin/bash
# The ratios and the page from made-up figures, and the figures kept: is each what it is said to be?
# Usage: page_test.sh <run.py> <program>...
set -euo pipefail

readonly run=$1
shift
readonly figures=$(mktemp)
readonly kept=$(mktemp)
trap 'rm -f "$figures" "$kept" "$kept.2"' EXIT

fail()
{
    echo "page_test: $*" >&2
    exit 1
}

# Rates of two repetitions each, in millions.
cat >"$figures" <<'EOF'
{"context": {"processor": "P", "cores": 2, "system": "S", "compiler": "C", "rust": "R",
             "commit": "0123abc", "repetitions": 2, "seconds": 0.1},
 "counters": {
  "resolve_open/raw/1024/1": {"items_per_second": [9e6, 12e6]},
  "resolve_open/raw/16384/1": {"items_per_second": [9e6, 9e6]},
  "resolve_open/raw/262144/1": {"items_per_second": [9e6, 9e6]},
  "resolve_open/compared/16384/1": {"items_per_second": [18e6, 18e6]},
  "resolve_open/haft_memb/1024/1": {"items_per_second": [6e6, 8e6]},
  "resolve_open/haft_memb/16384/1": {"items_per_second": [9e6, 9e6]},
  "resolve_open/haft_memb/262144/1": {"items_per_second": [9e6, 9e6]},
  "resolve_each/haft_memb/16384/1": {"items_per_second": [3e6, 3e6]},
  "resolve_open/haft_memb/4194304/1": {"items_per_second": [2e6, 2e6]},
  "resolve_many/haft_memb/4194304/1": {"items_per_second": [4e6, 4e6]},
  "use_one/haft_memb/4194304/1": {"items_per_second": [1e6, 1e6]},
  "use_many/haft_memb/4194304/1": {"items_per_second": [8e6, 8e6]},
  "side_get/haft_side/16384/1": {"items_per_second": [8e6, 10e6]},
  "side_get/haft_resolve/16384/1": {"items_per_second": [10e6, 12.5e6]},
  "churn/haft_workers/1024/1": {"items_per_second": [20e6, 20e6], "peak_slots": [2000, 2000]},
  "churn/haft_workers/1024/2": {"items_per_second": [30e6, 30e6], "peak_slots": [4048, 3000]},
  "churn/sharded_slab/1024/1": {"items_per_second": [5e6, 5e6]},
  "churn/sharded_slab/1024/2": {"items_per_second": [10e6, 10e6]},
  "churn/mimalloc/1024/1": {"items_per_second": [40e6, 40e6]},
  "churn/malloc/1024/1": {"items_per_second": [20.2e6, 20.2e6]},
  "churn/mutex/1024/1": {"items_per_second": [10e6, 10e6]},
  "get/haft_typed/1024/1": {"items_per_second": [8e6, 9e6]},
  "get/slotmap/1024/1": {"items_per_second": [10e6, 10e6]},
  "insert_free/haft_typed/1024/1": {"items_per_second": [3e6, 3e6]},
  "insert_free/slotmap/1024/1": {"items_per_second": [2e6, 2e6]},
  "hold/haft_counted/1024/1": {"items_per_second": [10e6, 10e6]},
  "hold/bare/1024/1": {"items_per_second": [12.5e6, 12.5e6]},
  "hold/mutex_count/1024/1": {"items_per_second": [5e6, 5e6]},
  "hold/weak_ptr/1024/1": {"items_per_second": [4e6, 4e6]},
  "hold/sharded_slab/1024/1": {"items_per_second": [8e6, 8e6]},
  "unwrap/haft_counted_copy/1024/1": {"items_per_second": [10e6, 10e6]},
  "unwrap/bare/1024/1": {"items_per_second": [15e6, 15e6]},
  "handoff/haft_workers/512/2": {"items_per_second": [30e6, 30e6]},
  "handoff/sharded_slab/512/2": {"items_per_second": [15e6, 15e6]},
  "read_alone/haft_workers/16384/1": {"items_per_second": [22e6, 22e6]},
  "read_under_churn/haft_workers/16384/2": {"items_per_second": [20e6, 20e6]},
  "memory/haft_workers/65536/1": {"bytes_per_object": [32, 32], "empty_bytes": [20480, 20480]},
  "any_call/no_table/16384/2": {"ns": [[1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7]]},
  "pauses/no_table/16384/2": {"ended_us": [[1, 2], [1, 2]], "idle_us": [[1, 2], [1, 2]],
                              "beyond_bytes": [4096, 4096], "processor_ns": [1, 1]},
  "any_call/haft_workers/16384/2": {"ns": [[1, 2, 3, 4000, 5000, 6000, 7000], [1, 2, 3, 2000, 5000, 6000, 9000]]},
  "pauses/haft_workers/16384/2": {"ended_us": [[200, 300], [400, 900]], "idle_us": [[5, 7], [5, 7]],
                                  "beyond_slots": [500, 700], "beyond_bytes": [8192, 8192],
                                  "processor_ns": [20, 20]},
  "any_call/mutex/16384/2": {"ns": [[1, 2, 3, 2990, 5000, 6000, 4000], [1, 2, 3, 2990, 5000, 6000, 4000]]},
  "pauses/mutex/16384/2": {"ended_us": [[0.5, 2000], [0.5, 2000]], "idle_us": [[6, 7], [6, 7]],
                           "beyond_slots": [2, 2], "beyond_bytes": [8192, 8192],
                           "processor_ns": [20, 20]}
 }}
EOF

# ratios_of <file...>: a line for each, with the median, the lowest and the highest
ratios_of()
{
    python3 "$run" --quick "${@/#/--from=}" | python3 -c '
import json, sys
for name, said in json.load(sys.stdin).items():
    print(name, said["median"], said["lowest"], said["highest"])'
}

# is <ratio> <values>
is()
{
    grep -qxF "$*" <<<"$ratios" || fail "$1 is not ${*:2}: $(grep "^$1 " <<<"$ratios")"
}

# has <what> <line>, lacks <what> <pattern>: of the page
has()
{
    grep -qF -- "$2" <<<"$page" || fail "the page does not have $1"
}

lacks()
{
    ! grep -qE -- "$2" <<<"$page" || fail "the page has $1"
}

ratios=$(ratios_of "$figures")
is resolve_open_vs_raw_1024 1.5 1.5 1.5
is resolve_open_vs_compared_16384 2.0 2.0 2.0
is resolve_each_memb_vs_raw_16384 3.0 3.0 3.0
is hold_vs_bare_steps 1.25 1.25 1.25
is hold_vs_mutex_count 0.5 0.5 0.5
is copy_vs_bare 1.5 1.5 1.5
is resolve_many_vs_one_4194304 0.5 0.5 0.5
is use_many_vs_one_4194304 0.125 0.125 0.125
is side_get_vs_resolve_16384 1.25 1.25 1.25
is churn1_vs_sharded_slab 4.0 4.0 4.0
is churn1_vs_mimalloc 0.5 0.5 0.5
is churn1_vs_mutex 2.0 2.0 2.0
is churn2_vs_churn1 1.5 1.5 1.5
is churn2_vs_sharded_slab 3.0 3.0 3.0
is handoff_vs_sharded_slab 2.0 2.0 2.0
is read_under_churn_vs_alone 1.1 1.1 1.1
is typed_get_vs_slotmap 0.85 0.8 0.9
is typed_insert_free_vs_slotmap 1.5 1.5 1.5
is peak_slots_over_live_per_worker 738.0 476.0 1000.0
is bytes_per_slot_overhead 8.0 8.0 8.0

# What more cores can do: a line moves in 100 ns, and the hottest one a quarter of a time an item.
python3 - "$run" <<'EOF' || fail "what is derived is not as it should be"
import os, sys
sys.path.insert(0, os.path.dirname(sys.argv[1]))
from derived import Item, Machine, millions, moves, rows_of
item = Item("both", "t", {"insert": 1, "free": 2}, "")
rows = [{"threads": threads, "table": "t", "operation": name, "moved_by_loads": moved, "moved_by_stores": 0.25,
         "moved_by_modifies": 0, "hottest": 0.25}
        for threads, moved in ((16, 0.5), (64, 1)) for name in ("insert", "other", "free")]
found = rows_of(rows, item, 64)
machine = Machine(64, 50, 100, 64)
sys.exit([row["operation"] for row in found] != ["insert", "free"] or moves(found, item) != 3.75
         or millions(machine, 100, 10, 0.5, 0.25) != 40 or round(millions(machine, 100, 10, 0.5, 0)) != 1067)
EOF

# Of several sessions, the range of their medians.
python3 - "$run" "$figures" "$kept" "$kept.2" <<'EOF'
import json, os, sys
run, figures, *kept = sys.argv[1:]
sys.path.insert(0, os.path.dirname(run))
import quick
from measured import Results
for times, path in zip((1, 3), kept):
    results = Results.load(figures)
    results.counters["churn/mutex/1024/1"]["items_per_second"] = [10e6 * times, 10e6 * times]
    results.context["sessions"] = [quick.medians(results)]
    results.save(path)
EOF
ratios=$(ratios_of "$kept" "$kept.2")
is churn1_vs_mutex 1.333 0.667 2.0
is typed_get_vs_slotmap 0.85 0.85 0.85
[[ $(python3 "$run" --from "$kept" --from "$kept.2") == *"4 repetitions (lowest-highest) in 2 sessions, of at least 0.1 s each"* ]] ||
    fail "the page does not tell of sessions"
python3 - "$run" "$kept" "$kept.2" <<'EOF' || fail "README's table is not as it should be"
import os, sys
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import quick
import report
from measured import Results
one, both = (Results.load(sys.argv[2]),
             Results.together([Results.load(path) for path in sys.argv[2:]]))
said = quick.evaluate(one, both)
assert said["churn1_vs_mutex"]["published"] == [0.667, 2.0] and said["churn1_vs_mutex"]["overlaps"]
one.counters["churn/mutex/1024/1"]["items_per_second"] = [9e6, 9e6]
assert not quick.evaluate(one, both)["churn1_vs_mutex"]["overlaps"]
lines = list(report.summary(both))
assert any(line.endswith("| 4.00 / 1.33 (0.67 to 2.00) / 0.50 times as fast |") for line in lines), lines
assert any(line.endswith("| 738 |") for line in lines), lines
EOF
[[ $(python3 "$run" --help) == *bytes_per_slot_overhead* ]] || fail "--help defines no ratios"
[[ $(python3 "$run" --list | sort | xargs) == $(xargs -n 1 <<<"$*" | sort | xargs) ]] ||
    fail "--list has not each program of bench/BUILD"

# A second run: which rows are apart, and a range that has both; rows that one of them lacks.
sed -e 's/"churn\/mutex\/1024\/1": {"items_per_second": \[10e6, 10e6\]/"churn\/mutex\/1024\/1": {"items_per_second": [11e6, 12e6]/' \
    -e '/"get\/slotmap/d' -e '$!s/"get\/haft_typed/"unwrap\/haft_table\/1024\/1": {"items_per_second": [1e6, 2e6]},\n  &/' "$figures" >"$kept"
apart=$(python3 "$run" --from "$kept" --against "$figures" 2>&1 >/dev/null)
[[ $apart == "churn/mutex/1024/1: 11.5 (11.0-12.0) against 10.0, 1.15 times"$'\n'"1 of "*" rows do not overlap" ]] ||
    fail "--against says: $apart"
page=$(python3 "$run" --from "$figures" --from "$kept")
has "the range of both runs" "| churn | mutex | 10.5 (10.0-12.0) |"
has "the machine" "Machine: P, 2 cores, S;"
has "a row that one run lacks" "| unwrap | haft_table | 1.50 (1.00-2.00) |"

# A run on another machine gives its ratios alone.
python3 - "$run" "$figures" "$kept" "$kept.2" <<'EOF' || fail "of another machine there is more than ratios, or less"
import os, sys
run, figures, *kept = sys.argv[1:]
sys.path.insert(0, os.path.dirname(run))
import quick
import report
from measured import Results
for processor, rate, path in zip("QP", (30e6, 20e6), kept):
    results = Results.load(figures)
    results.context["processor"] = processor
    results.counters["churn/mutex/1024/1"]["items_per_second"] = [rate, rate]
    results.context["sessions"] = [quick.medians(results)]
    results.save(path)
Results.together([Results.load(path) for path in kept]).save(kept[0])
both = Results.together([Results.load(path) for path in kept])
assert both.rate("churn/mutex/1024/1") == 20e6 and both.context["repetitions"] == 4
assert quick.spreads(both)["churn1_vs_mutex"] == (1.0, 0.667, 1.0)
assert "README are of these and of 1 session on Q with R (commits 0123abc)." in " ".join(report.head(both.context))
EOF

page=$(python3 "$run" --from "$figures")
has "medians and ranges" "| resolve_open | raw | 10.5 (9.00-12.0) |"
has "the slots used" "| churn | haft_workers | 20.0 | 30.0 | 3,524 (to 4,048) |"
has "the peer that is faster" "| churn | mimalloc | 1,024 | 1 | haft_workers | 2.00 |"
lacks "a peer within 3 %" '\| churn \| malloc \| 1,024 \| 1 \|'
lacks "a bound among the peers" '\| resolve_open \| raw \| [0-9,]+ \| 1 \|'
lacks "a slower peer among the faster" '\| churn \| mutex \| 1,024 \| 1 \|'

has "pauses, destructors and memory" "| pauses | haft_workers | 8.00 (7.00-9.00) | 3.00 (2.00-4.00) | 300 (200-400) | 600 (300-900) | 5.00 | 600 (500-700) | 8.00 |"
has "the peer with the shorter pause" "| pauses: longest call, us | mutex | 16,384 | 2 | haft_workers | 2.00 |"
has "the peer whose destructors come sooner" "| pauses: destructor, us | mutex | 16,384 | 2 | haft_workers | 600 |"
has "the peer that takes less memory" "| pauses: slots beyond live | mutex | 16,384 | 2 | haft_workers | 300 |"
lacks "a peer within 3 % in pauses" '\| pauses: p99.9, us \| mutex'
lacks "a peer whose destructors come later" '\| pauses: (longest destructor|idle), us \| mutex'
lacks "a bound in pauses" '\| pauses: .* \| no_table'

lacks "another run's series" 'another run'
lacks "pinned threads in figures from before" 'pinned'
sed 's/"repetitions": 2,/& "pinned": true, "series": {"processor": "Q", "cores": 4, "commit": "abc"},/' "$figures" >"$kept"
page=$(python3 "$run" --from "$kept")
has "pinned threads" "Threads are pinned to a core each where there are as many; more threads than"
has "where the series are from" "backlog.png are of another run: Q, 4 cores, commit abc."

python3 - "$(dirname "$run")" <<'EOF' || fail "the plots' looks are not as they should be"
import collections, sys
sys.path.insert(0, sys.argv[1])
import looks, report
for subject in looks.shown():
    line = looks.look_of(subject).line
    wanted = looks.OURS if subject.startswith(report.HAFT) else (
        looks.BOUND if subject in report.BOUNDS else looks.PEER)
    assert line == wanted, f"the line of {subject} is {line}"
for field in ("colour", "marker"):
    counts = collections.Counter(getattr(look, field) for look in looks.LOOKS.values())
    for value, count in counts.items():
        shared = [name for name, look in looks.LOOKS.items() if getattr(look, field) == value]
        assert count == 1 or field == "marker" and all(
            one.startswith(report.HAFT) for one in shared), f"{shared} share a {field}"
names = {plot.name for plot in looks.OVER_THREADS + looks.OVER_SIZES} | {"reads.png", "growth.png", "backlog.png"}
assert names == {name for name, _ in report.PLOTS}, "plots without a title, or titles without a plot"
EOF

python3 "$run" --from "$figures" --save "$kept" >/dev/null
python3 - "$(dirname "$run")" "$figures" "$kept" <<'EOF' || fail "figures are not kept as they were"
import json, sys
sys.path.insert(0, sys.argv[1])
from measured import Results
figures, kept = sys.argv[2:]
assert json.load(open(figures)) == json.load(open(kept)), "--save changes them"
results = Results()
for turn in (1, 2):
    results.add({"name": "a", "items_per_second": turn})
    results.add({"name": "b", "milliseconds": [0.5, 1.5], "retired": [turn, turn],
                 "waiting": [turn, 0]})
results.save(kept)
loaded = Results.load(kept)
assert loaded.values("a") == [1, 2]
assert loaded.series("b") == ([0.5, 1.5], [2, 2], [2, 0]) and loaded.series("a") == ()
assert '   "milliseconds": [0.5, 1.5],\n' in open(kept).read(), "a series is not a line"
json.dump({"context": {}, "counters": {"b": {"milliseconds": [[1, 2], [3, 4]],
                                             "retired": [[5, 6], [7, 8]],
                                             "waiting": [[1, 1], [2, 0]]}}}, open(kept, "w"))
assert Results.load(kept).series("b") == ([3, 4], [7, 8], [2, 0]), "of series for repetitions, the last"
EOF
