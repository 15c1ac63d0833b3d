#!/bin/bash
# found.sh - plays a plan that broke a rule when it was found.
#
# Usage: found.sh <program> <rule>
#   rule  the one it must still break; empty: all must hold
set -euo pipefail

readonly program=$1 rule=$2
status=0
output=$("$program") || status=$?
echo "$output"
if [[ -z $rule ]]; then
    exit "$status"
fi
[[ $status == 3 ]] || { echo "found.sh: exit $status: nothing is broken" && exit 1; }
# AddressSanitizer may see it before the rule does.
[[ $output == "VIOLATION: $rule"* || $output == *AddressSanitizer* ]]
