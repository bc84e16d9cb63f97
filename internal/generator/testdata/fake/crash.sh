#!/bin/sh
# Dies as a program does that runs into its own fault.
echo "Running 1s test @ http://127.0.0.1:1/"
echo "assertion failed: the moon is made of cheese" >&2
kill -SEGV $$
