#!/bin/bash
# A program of the guide prints what the guide says it does, and ends well.
#
# Usage: output_test.sh <program> <docs/guide.md, docs/kit.md, or a file of the output>
# In a page the output stands in the block below a line such as <!-- output of local -->.
set -euo pipefail

readonly program=$1 page=$2
name=$(basename "$program")
name=${name%_program}

if [[ $page == *.txt ]]; then
    shown=$(<"$page")
else
    shown=$(awk -v mark="<!-- output of $name -->" '
        $0 == mark { found = 1; next }
        found && /^```/ { if (inside) exit; inside = 1; next }
        inside { print }' "$page")
fi
[[ -n $shown ]] || { echo "$page shows no output of $name" >&2; exit 1; }
diff <(printf '%s\n' "$shown") <("$program")
"$program" >/dev/null
