package wrk

import (
	"fmt"
	"strings"
)

// Compatible is the release of wrk whose behaviour this is.
const Compatible = "4.2.0"

// Usage is wrk's usage text, with Prony's own options behind wrk's. wrk pads
// its options with blanks, which are kept.
func Usage() string {
	const width = 54
	options := []string{
		"Usage: wrk <options> <url>",
		"  Options:",
		"    -c, --connections <N>  Connections to keep open",
		"    -d, --duration    <T>  Duration of test",
		"    -t, --threads     <N>  Number of threads to use",
		"",
		"    -s, --script      <S>  Load Lua script file",
		"    -H, --header      <H>  Add header to request",
		"        --latency          Print latency statistics",
		"        --timeout     <T>  Socket/request timeout",
		"    -v, --version          Print version details",
		"",
	}
	rest := []string{
		"  Numeric arguments may include a SI unit (1k, 1M, 1G)",
		"  Time arguments may include a time unit (2s, 2m, 2h)",
		"",
		"  Prony's own:",
		"        --quirks           Print the figures of wrk, not the true ones",
		"        --plain            Print nothing that wrk does not print",
		"        --strict           Exit with Prony's status, not with wrk's",
		"        --json        <F>  Write the result to a file",
		"        --engine      <E>  auto, io_uring, epoll or goroutines",
		"        --print-spec       Print the experiment, do not run it",
	}
	var b strings.Builder
	for _, line := range options {
		fmt.Fprintf(&b, "%-*s\n", width, line)
	}
	return b.String() + strings.Join(rest, "\n") + "\n"
}

// VersionLine is the answer to -v, in the shape of wrk's: what this is, its
// own version, the engine that would run, and what it stands in for.
func VersionLine(version, engine string) string {
	return fmt.Sprintf("wrk prony/%s [%s] compatible with wrk %s\n", version, engine, Compatible)
}
