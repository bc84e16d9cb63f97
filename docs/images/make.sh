#!/usr/bin/env bash
# Makes the pictures of this folder from real runs: the terminal while the demo
# runs, its report, and the pages of prony serve. Needs tmux, node 20, Chromium,
# and the bundle's tools (npm ci in web).
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
export PRONY_HOME=$work/home
CGO_ENABLED=0 go build -trimpath -o "$work/prony" ./cmd/prony

tmux -L prony-pictures new-session -d -s live -x 118 -y 36 "cd $work && TERM=xterm-256color LANG=C.UTF-8 ./prony demo --seconds ${SECONDS_EACH:-5}; sleep 2"
trap 'tmux -L prony-pictures kill-server 2>/dev/null || true; [ -z "${server:-}" ] || kill "$server"; rm -rf "$work"' EXIT
sleep "${LIVE_AFTER:-69}" # in the middle of a trial
tmux -L prony-pictures capture-pane -e -p -t live >"$work/live.txt"
node docs/images/terminal.mjs "$work/live.txt" docs/images/live.png
while tmux -L prony-pictures has-session -t live 2>/dev/null; do sleep 1; done

"$work/prony" report last -o "$work/report.html"
(cd web && node shots.mjs "file://$work/report.html" ../docs/images)

"$work/prony" serve --addr 127.0.0.1:7690 >"$work/serve.log" 2>&1 &
server=$!
for _ in $(seq 50); do curl -fs http://127.0.0.1:7690/api/version >/dev/null && break; sleep 0.2; done
(cd web && node shots.mjs --pages ../docs/images http://127.0.0.1:7690)
rm -f docs/images/*-whole.png # long, and nobody looks at them
