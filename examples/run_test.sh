#!/bin/bash
# run_test.sh - a program must end with 0.
#
# Usage: run_test.sh <program> [argument...]
exec "$@"
