#!/bin/sh
# Measures what the pages of docs/results show and makes them anew, as it fits a
# machine with two cores that nobody else uses: some five hours. As
# root, with nginx and its Lua module, HAProxy, Maven, and JDKs 17 and 21 or newer;
# for the pictures also Chromium, Node 20, and the web bundle's tools (npm ci in web).
#
#   docs/results/take.sh               all experiments
#   docs/results/take.sh gateways …    some of them
#
# More cores carry more: leave out the changes, and see the experiments' heads.
set -eu

cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/prony" ./cmd/prony

# take NAME NOTE CHANGES: an invalid trial is a result, too, so status 1 is none
# to stop at.
take() {
	name=$1 note=$2
	shift 2
	case " $wanted " in *" $name "* | "  ") ;; *) return 0 ;; esac
	"$work/prony" run "experiments/$name.yaml" --plain --keep "$work/runs" --json "$work/$name.json" "$@" || [ $? -eq 1 ]
	go run ./docs/results -take "$work/$name.json" -note "$note"
}

wanted="$*"
take openresty-single "windows of 10 s after 5 s, 6 repeats" --repeat 6 --set load.duration=10s
take openresty-proxy "windows of 10 s after 5 s, 6 repeats" --repeat 6 --set load.duration=10s
take springboot-single "windows of 10 s, 6 repeats" --repeat 6 --set load.duration=10s
take two-springboot-one-host "windows of 8 s after 20 s, 6 repeats" --repeat 6 --set 'load[0].duration=8s' --set 'load[1].duration=8s' \
	--set 'load[0].warmup=20s' --set 'load[1].warmup=20s'
take openresty-over-springboot "windows of 10 s, 1 and 3 apps, 6 repeats" --repeat 6 --set load.duration=10s --set instances=1,3
take springboot-or-nginx "windows of 10 s, 6 repeats" --repeat 6 --set load.duration=10s
take frameworks-200m "windows of 10 s, 6 repeats" --repeat 6 --set load.duration=10s
take nginx-or-zuul "windows of 10 s, 6 repeats" --repeat 6 --set load.duration=10s
take gateways "500 requests/s, windows of 10 s, 6 repeats" --repeat 6 --set load.warmup=auto --set load.rate=500/s
take generators "windows of 10 s after 2 s, 6 repeats" --repeat 6 --set load.with=prony,wrk,ab,h2load,gatling

# picture NAME SERVICE ONLY: one trial with thread states, as a picture.
picture() {
	name=$1 service=$2 only=$3
	case " $wanted " in *" $name "* | "  ") ;; *) return 0 ;; esac
	[ -d web/node_modules ] || return 0
	"$work/prony" run "experiments/$name.yaml" --plain --keep "$work/pictures" --only "$only" --repeat 1 \
		--set "$service.thread_dumps=2s" --set load.duration=20s || [ $? -eq 1 ]
	"$work/prony" report last --keep "$work/pictures" --trial 1 -o "$work/$name.html"
	(cd web && node shots.mjs --java "../docs/results/images/$name.png" "file://$work/$name.html")
}
mkdir -p docs/results/images
picture nginx-or-zuul gateway load.keepalive=true,cpus=0.6,gateway.catalog=zuul
picture springboot-or-nginx app load.target=app
go run ./docs/results
