package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"prony/internal/cgroup"
	"prony/internal/result"
)

// TestPlantedGenerator: a generator in a fifth of a core judges itself, and no
// target.
func TestPlantedGenerator(t *testing.T) {
	needLive(t)
	needRoot(t)
	group, err := cgroup.Create("", fmt.Sprintf("prony-planted-%d", os.Getpid()), cgroup.Limits{CPUs: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := group.Kill(); err != nil {
			t.Error(err)
		}
		if err := group.Remove(); err != nil {
			t.Error(err)
		}
	})
	// The words up to the binary are the launcher; what follows is its own.
	words := group.Enter(binary)
	planted{file: "generator-starved", launch: words[:len(words)-1], busy: true, limiter: "generator-quota generator", rule: "throttled",
		where: "generator", severity: result.InvalidLevel, says: "quota"}.check(t)
}

// TestPlantedPorts: 200 local ports, and a connection for each request.
func TestPlantedPorts(t *testing.T) {
	needLive(t)
	needRoot(t)
	space := namespace(t, "a")
	inside(t, space, "sysctl", "-q", "-w", "net.ipv4.ip_local_port_range=40000 40199", "net.ipv4.tcp_tw_reuse=0")
	planted{file: "ports", launch: enter(space), limiter: "ports generator", rule: "ports", where: "generator",
		says: "no local port"}.check(t)
}

// TestPlantedLink: a router on the way to the target shapes it to 100 Mbit/s. In
// the sender's own machine a shaper would only hold packets back, and none would
// be lost on the way.
func TestPlantedLink(t *testing.T) {
	needLive(t)
	needRoot(t)
	tc := need(t, "tc", "apt-get install iproute2")
	near, router, far := namespace(t, "near"), namespace(t, "router"), namespace(t, "far")
	join(t, near, "planted0", "10.99.82.1/24", router, "planted1", "10.99.82.254/24")
	join(t, router, "planted2", "10.99.83.254/24", far, "planted3", "10.99.83.2/24")
	must(t, "ip", "-n", near, "route", "add", "default", "via", "10.99.82.254")
	must(t, "ip", "-n", far, "route", "add", "default", "via", "10.99.83.254")
	inside(t, router, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
	inside(t, router, tc, "qdisc", "add", "dev", "planted2", "root", "tbf", "rate", "100mbit", "burst", "32kb", "limit", "320kb")
	serve(t, append(enter(far), binary, "target", "--addr", "10.99.83.2:8080"))
	body := strings.Repeat("the quick brown fox jumps over the lazy dog ", 390)
	planted{file: "shaped-link", args: []string{"--set", "load.body=" + body}, launch: enter(near), limiter: "shaped-link planted0", quiet: true, rule: "shaped-link", where: "planted0",
		says: `as if the way was cut to 100\s?Mbit/s`}.check(t)
}

// join lays a cable between two namespaces.
func join(t *testing.T, a, linkA, addressA, b, linkB, addressB string) {
	t.Helper()
	must(t, "ip", "-n", a, "link", "add", linkA, "type", "veth", "peer", "name", linkB, "netns", b)
	for _, end := range [][3]string{{a, linkA, addressA}, {b, linkB, addressB}} {
		must(t, "ip", "-n", end[0], "address", "add", end[2], "dev", end[1])
		must(t, "ip", "-n", end[0], "link", "set", end[1], "up")
	}
}

// TestPlantedNeighbour: a program that is no part of the run has the target's
// core.
func TestPlantedNeighbour(t *testing.T) {
	needLive(t)
	needRoot(t)
	taskset := need(t, "taskset", "apt-get install util-linux")
	serve(t, []string{taskset, "-c", "1", "sh", "-c", "echo busy; while :; do :; done"})
	planted{file: "noisy-neighbour", busy: true, limiter: "foreign-cpu this machine", rule: "foreign-cpu", where: "this machine",
		says: "other programs used"}.check(t) // half of a core, more or less, which decides between invalid and suspect
}

// TestPlantedJVM: a virtual machine that compiles while it is measured.
func TestPlantedJVM(t *testing.T) {
	needLive(t)
	needRoot(t)
	need(t, "java", "apt-get install openjdk-17-jdk-headless")
	need(t, "mvn", "apt-get install maven")
	planted{file: "jvm-compiling", limiter: "compiling app[0]", rule: "compiling", where: "app[0]", severity: result.SuspectLevel,
		says: "was still compiling"}.check(t)
}

// namespace makes a network namespace with a loopback, until the test ends.
func namespace(t *testing.T, what string) string {
	t.Helper()
	need(t, "ip", "apt-get install iproute2")
	name := fmt.Sprintf("planted-%d-%s", os.Getpid(), what)
	must(t, "ip", "netns", "add", name)
	t.Cleanup(func() { must(t, "ip", "netns", "delete", name) })
	must(t, "ip", "-n", name, "link", "set", "lo", "up")
	return name
}

// enter are the words that put a command into a namespace.
func enter(space string) []string { return []string{"ip", "netns", "exec", space} }

// alone are the words that put a command into a network of its own, where no
// other program connects, and leave it all else.
func alone(t *testing.T) []string {
	t.Helper()
	return []string{need(t, "nsenter", "apt-get install util-linux"), "--net=/run/netns/" + namespace(t, "alone")}
}

func inside(t *testing.T, space string, words ...string) {
	t.Helper()
	must(t, "ip", append(enter(space)[1:], words...)...)
}

func must(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// serve runs a program in the background, from its first line until the test
// ends.
func serve(t *testing.T, words []string) {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	dieWithParent(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatalf("%s did not start: %v", strings.Join(words, " "), err)
	}
}
