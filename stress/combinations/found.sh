#!/bin/bash
# found.sh - plays a plan that broke a rule when it was found.
#
# Usage: found.sh <program> <rule>
#   rule  the one that it must still break; empty: all rules must hold
set -euo pipefail

readonly program=$1 rule=$2
status=0
output=$("$program") || status=$?
echo "$output"
if [[ -z $rule ]]; then
    exit "$status"
fi
[[ $status == 3 ]] || { echo "found.sh: exit $status, not 3: the plan breaks no rule" && exit 1; }
# AddressSanitizer may report the fault before the rule does.
[[ $output == "VIOLATION: $rule"* || $output == *AddressSanitizer* ]] ||
    { echo "found.sh: the plan breaks another rule than '$rule'" && exit 1; }
