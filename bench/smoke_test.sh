#!/bin/bash
# Runs a small part of each program for a moment: do the names, the counters and the table hold?
# Usage: smoke_test.sh <table.py> <run.py> <backlog> <blocked> <pauses> <program>...
set -euo pipefail

readonly table=$1 run=$2 backlog=$3 blocked=$4 pauses=$5
shift 5
readonly name='[a-z_0-9]+/[a-z_]+/[0-9]+/[0-9]+'
readonly report=$(mktemp)
trap 'rm -f "$report"' EXIT

fail()
{
    echo "smoke_test: $*" >&2
    exit 1
}

# check_names <program>: every name is workload/subject/size/threads, and none stands twice
check_names()
{
    local names
    names=$("$1" --benchmark_list_tests)
    [[ -n $names ]] || fail "$1 lists nothing"
    ! grep -vxE "$name" <<<"$names" || fail "$1 lists a name of another form"
    [[ -z $(sort <<<"$names" | uniq -d) ]] || fail "$1 lists a name twice"
    ! "$1" --benchmark_list_tests >/dev/full || fail "$1: exit 0 on a full disk"
}

# check_run <program>: as many good reports as the filter lets through: small sizes, or the least
check_run()
{
    local program=$1 filter='/(512|1024|10000)/[12]$' wanted seen rates
    "$program" --benchmark_list_tests | grep -E "$filter" >/dev/null || filter='/(16384|65536)/[12]$'
    "$program" --benchmark_filter="$filter" --benchmark_min_time=0.0001 \
        --benchmark_format=json --benchmark_out="$report" >/dev/null
    ! grep -q error_occurred "$report" || fail "$program: $(grep error_message "$report")"

    wanted=$("$program" --benchmark_list_tests --benchmark_filter="$filter" | wc -l)
    seen=$(grep -cE "^ *\"name\": \"$name\",\$" "$report")
    rates=$(grep -c '"items_per_second": [1-9]' "$report")
    [[ $wanted -gt 0 && $seen == "$wanted" && $rates == "$wanted" ]] ||
        fail "$program: $wanted benchmarks, $seen reports, $rates rates"
}

for program in "$@"; do
    check_names "$program"
    check_run "$program"
    case $program in
        *churn | *contention)
            [[ $(grep -c '"peak_slots": [1-9]' "$report") -ge 12 ]] || fail "$program: no slots used"
            grep -qE '^\| churn \| mutex \| 1,024 \| [0-9]' < <(python3 "$table" "$report") ||
                fail "$program: no table"
            ;;
    esac
done

# Do the sessions of run.py measure what ratios and derived figures are made of, but for Rust's?
python3 - "$run" "$@" <<'END' || fail "no session measures what the page needs"
import os, subprocess, sys
run, *programs = sys.argv[1:]
sys.path.insert(0, os.path.dirname(run))
import derived, quick
from measured import Results
from run import ALL

class Asked(Results):
    names = {item.measured for item in derived.ITEMS}
    def values(self, name, counter="items_per_second"):
        self.names.add(name)
        return [1.0]

for ratio in quick.ratios():
    ratio.compute(Asked())
measured = set()
for path in programs:
    for one in ALL:
        if one.name == os.path.basename(path):
            measured |= set(subprocess.run(
                [path, "--benchmark_list_tests", f"--benchmark_filter={one.wanted or 'all'}"],
                capture_output=True, text=True, check=True).stdout.split())
rust = ("sharded_slab", "slotmap")
missing = {name for name in Asked.names - measured if name.split("/")[1] not in rust}
sys.exit(f"no session measures {missing}" if missing else 0)
END

# On a machine with other work the threads may get no time at all in the shorter run.
check_backlog()
{
    "$backlog" "$1" >"$report" || return
    python3 - "$report" <<'END'
import json, sys
for run in json.load(open(sys.argv[1]))["benchmarks"]:
    times, retired, waiting = (run[key] for key in ("milliseconds", "retired", "waiting"))
    assert len(times) == len(retired) == len(waiting) == 400, run["name"]
    assert max(retired) > 0 and max(waiting) > 0, run["name"]
END
}
check_backlog 100 2>/dev/null || check_backlog 2000 || fail "$backlog: no series"
! "$backlog" 0 2>"$report" && grep -q "1 to 60000" "$report" || fail "$backlog takes any time"

# It judges the memory and the reports itself.
"$blocked" 0.3 1 >"$report" || fail "$blocked: exit $?"
python3 - "$report" <<'END' || fail "$blocked: no series"
import json, sys
runs = json.load(open(sys.argv[1]))["benchmarks"]
assert len(runs) == 6
for run in runs:
    assert len(run["seconds"]) == len(run["waiting"]) == len(run["used"]) == 400, run["name"]
    assert max(run["waiting"]) <= max(run["used"]) <= run["bound"], run["name"]
    assert run["names_thread"] == ("workers" in run["name"]), run["name"]
END
! "$blocked" 1 0 2>"$report" && grep -q "1 to 100" "$report" || fail "$blocked takes any bound"

# It checks itself that each object that was freed has ended.
"$pauses" 0.005 >"$report" || fail "$pauses: exit $?"
python3 - "$report" <<'END' || fail "$pauses: no times"
import json, sys
figures = {}
for run in json.load(open(sys.argv[1]))["benchmarks"]:
    workload, subject, _, _ = run["name"].split("/")
    figures.setdefault(subject, {})[workload] = run
assert len(figures) == 17
for subject, runs in figures.items():
    own = runs.pop("pauses")
    assert list(runs) == ["look_up", "insert", "free", "quiescent", "any_call"], subject
    assert all(run["ns"] == sorted(run["ns"]) for run in runs.values()), subject
    assert runs["any_call"]["ns"][-1] == max(run["ns"][-1] for run in runs.values()) > 0, subject
    assert own["processor_ns"] > 0 and own["beyond_bytes"] >= 0, subject
    assert (subject == "no_on_reclaim") == ("ended_us" not in own), subject
    for median, longest in (own[key] for key in ("ended_us", "idle_us") if key in own):
        assert 0 <= median <= longest, subject
    assert subject not in ("haft_workers", "haft_counted", "mutex") or own["beyond_slots"] > 0
END
! "$pauses" 0 2>"$report" && grep -q "0.001 to 60" "$report" || fail "$pauses takes any time"
