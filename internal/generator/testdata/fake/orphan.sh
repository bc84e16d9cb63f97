#!/bin/sh
# Ends with a report and leaves behind what holds its output open.
sleep 600 &
echo "left behind: $!"
cat "$(dirname "$0")/../report/wrk.txt"
