#!/bin/sh
# Starts the build that is asked for: start.sh main|branch PORT. In a repository
# of your own this is: exec "./bin/$1/server" --port "$2"
case $1 in
main) exec prony target --addr "127.0.0.1:$2" ;;
branch) exec prony target --addr "127.0.0.1:$2" ;;
esac
echo "start.sh: no build is called $1" >&2
exit 2
