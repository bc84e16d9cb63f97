#!/usr/bin/env bash
# Proves that the committed bundle is what the sources build, byte by byte, and
# tests it. Needs node 20 or later and npm. With "browser" as argument the tests
# in a real Chromium follow (CHROMIUM names it; default /usr/bin/chromium).
# Any failure ends it.
set -euo pipefail
cd "$(dirname "$0")"
built=../internal/web/dist

if grep -q '"resolved"' package-lock.json; then
	echo "web: package-lock.json names download addresses; run npm install with the .npmrc beside it" >&2
	exit 1
fi

before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
cp -r "$built/." "$before"
npm ci --ignore-scripts
npm run build
if ! diff -rq "$before" "$built"; then
	echo "web: the committed bundle is not what the sources build; run npm run build and commit internal/web/dist" >&2
	exit 1
fi
npm test
if [ "${1:-}" = browser ]; then
	npm run browser
fi
echo "web: the bundle is what the sources build"
