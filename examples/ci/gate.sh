#!/bin/sh
# Measures an experiment and holds it against gates:
#
#   gate.sh EXPERIMENT GATES [BASELINE]
#
# Without BASELINE the variants are held against the experiment's own; with it,
# against a stored result. In the folder $OUT (default: prony) are left:
#
#   result.json   all results, to be the baseline of another day
#   gates.xml     JUnit: validity, expectations and gates as tests
#   comment.md    the body of a comment on the change
#   report.html   the whole report, one file
#   report.md     the same as Markdown
#
# Exit status: 0 good, 1 a gate or an expectation failed or a result is invalid,
# 2 a mistake in a file, 3 something could not be started.
set -u
experiment=$1 gates=$2 baseline=${3:-} out=${OUT:-prony}
mkdir -p "$out" || exit 3

# $RUN_FLAGS: what to change in the experiment, e.g. --set load.duration=2s
# shellcheck disable=SC2086
prony run "$experiment" -q ${RUN_FLAGS:-} --json "$out/result.json"
measured=$?
[ "$measured" -le 1 ] || exit "$measured" # nothing was measured

set -- "$out/result.json" --gate "$gates" ${baseline:+--baseline "$baseline"}
prony report "$@" -o "$out/gates.xml" -o "$out/report.html" -o "$out/report.md" -o "$out/gates.comment.md"
gated=$?
[ "$gated" -le 1 ] || exit "$gated"
mv "$out/gates.comment.md" "$out/comment.md"
cat "$out/comment.md"

[ "$measured" -ge "$gated" ] && exit "$measured"
exit "$gated"
