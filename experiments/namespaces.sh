#!/bin/sh
# Hosts on one machine, for the experiments with "hosts": network namespaces
# joined by a bridge, each with an address, a link of a known rate, its own
# loopback, ports and TIME_WAIT, and an sshd, so that Prony reaches them like
# other machines. As root, with ip, tc, nsenter, sshd and ssh-keygen.
#
#   experiments/namespaces.sh up [RATE]     master and app1 to app5; RATE of each link, default 1gbit
#   experiments/namespaces.sh run COMMAND   a command that knows their keys, such as: prony run FILE
#   experiments/namespaces.sh down          take all of it away
#
# What it does not give: CPU, memory, disks and the kernel are those of the one
# machine, and the bridge takes CPU where a switch takes none. Limits in the
# experiment give each host its share of CPU. The Spring Boot app of the catalog
# is built and put where the experiments look for it, if Maven is there.
set -eu

state=${PRONY_NAMESPACES:-/run/prony-namespaces}
here=$(cd "$(dirname "$0")" && pwd)
jar=/srv/prony/app.jar
bridge=prony0
net=10.98.0
hosts='master:10 app1:11 app2:12 app3:13 app4:14 app5:15'

up() {
	[ ! -e "$state" ] || down
	mkdir -p -m 700 "$state/home/.ssh" /run/sshd
	ssh-keygen -q -t ed25519 -N '' -f "$state/host"
	ssh-keygen -q -t ed25519 -N '' -f "$state/home/.ssh/id_ed25519"
	ip link add "$bridge" type bridge
	ip addr add "$net.1/24" dev "$bridge"
	ip link set "$bridge" up
	for h in $hosts; do
		host "${h%:*}" "$net.${h#*:}" "$1"
	done
	app
}

# app puts the Spring Boot app into the place that all hosts here share.
app() {
	[ -e "$jar" ] || ! command -v mvn >/dev/null || {
		mkdir -p "$(dirname "$jar")" "$state/build"
		cp -R "$here/../catalog/springboot-tomcat/pom.xml" "$here/../catalog/springboot-tomcat/src" "$state/build"
		(cd "$state/build" && mvn -B -q package)
		cp "$state/build/target/app.jar" "$jar"
		touch "$state/brought"
		rm -rf "$state/build"
	}
}

# host NAME ADDRESS RATE
host() {
	ns=prony-$1
	ip netns add "$ns"
	ip link add "$ns" type veth peer name eth0 netns "$ns"
	ip link set "$ns" master "$bridge" up
	inside "$ns" ip addr add "$2/24" dev eth0
	inside "$ns" ip link set lo up
	inside "$ns" ip link set eth0 up
	# One bucket for each direction: what the host sends, and what it gets.
	inside "$ns" tc qdisc add dev eth0 root tbf rate "$3" burst 256kb latency 50ms
	tc qdisc add dev "$ns" root tbf rate "$3" burst 256kb latency 50ms
	server "$ns" "$2"
	echo "$2 $(cat "$state/host.pub")" >>"$state/home/.ssh/known_hosts"
	echo "$1: ssh://root@$2, $3"
}

# inside NAMESPACE COMMAND: only the network is another one. "ip netns exec"
# would put a new /sys in place too, without the control groups.
inside() {
	ns_of=$1
	shift
	nsenter --net="/run/netns/$ns_of" "$@"
}

server() {
	cat >"$state/$1.conf" <<-CONF
		ListenAddress $2
		HostKey $state/host
		PidFile $state/$1.pid
		AuthorizedKeysFile $state/home/.ssh/id_ed25519.pub
		StrictModes no
		PermitRootLogin yes
		UsePAM no
		MaxStartups 100
		Subsystem sftp internal-sftp
	CONF
	inside "$1" "$(command -v sshd || echo /usr/sbin/sshd)" -f "$state/$1.conf"
}

# Another home, for the keys; builds and results stay where they always are.
run() {
	real=${HOME:-/root}
	HOME="$state/home" SSH_AUTH_SOCK='' XDG_CACHE_HOME="${XDG_CACHE_HOME:-$real/.cache}" \
		XDG_DATA_HOME="${XDG_DATA_HOME:-$real/.local/share}" exec "$@"
}

down() {
	for h in $hosts; do
		ns=prony-${h%:*}
		[ ! -f "$state/$ns.pid" ] || kill "$(cat "$state/$ns.pid")" 2>/dev/null || true
		ip link del "$ns" 2>/dev/null || true
		ip netns del "$ns" 2>/dev/null || true
	done
	ip link del "$bridge" 2>/dev/null || true
	[ ! -e "$state/brought" ] || rm -f "$jar"
	rm -rf "$state"
}

case ${1:-} in
up) up "${2:-1gbit}" ;;
run)
	shift
	run "$@"
	;;
down) down ;;
*)
	sed -n '2,/^set/p' "$0" | sed -n 's/^# \{0,1\}//p' >&2
	exit 2
	;;
esac
