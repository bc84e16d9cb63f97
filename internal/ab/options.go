package ab

import (
	"strings"
	"time"

	"prony/internal/plan"
)

// Limits of ab 2.4 that scripts may rely on, and Prony's bound on records.
const (
	maxConcurrency = 200_000
	// timeLimitRequests is what -t sets -n to, at its place on the line.
	timeLimitRequests = 50_000
	// maxRecords bounds the requests kept one by one for the tables.
	maxRecords = 20_000_000
	// forever stands for "no bound": ab's negative -s.
	forever = 24 * time.Hour
)

// Exit codes of ab: EINVAL for wrong usage, 1 for a bad value.
const (
	exitBadValue = 1
	exitUsage    = 22
)

// Options is a parsed command line. It is made by Parse, which fills in ab's
// defaults; the zero value is not usable.
type Options struct {
	Requests    int           // -n
	Concurrency int           // -c
	TimeLimit   time.Duration // -t; 0: none
	Timeout     time.Duration // -s, of one request (ab: of all together)
	Window      int           // -b, in bytes; read, not applied
	Source      string        // -B, an IP address

	Method      string // GET unless -i, -m, -p or -u say otherwise
	HasBody     bool   // -p or -u was given, even with an empty file
	Body        []byte // the content of that file
	ContentType string // -T
	KeepAlive   bool   // -k
	Cookies     []string
	// Credentials are the headers of -A and -P, in the order given.
	Credentials []plan.Header
	Headers     []plan.Header // -H, in the order given

	ProxyHost string // -X
	ProxyPort int

	NoSNI    bool   // -I
	Ciphers  string // -Z, as typed
	Protocol string // -f: "" for any, else "1.0" to "1.3"
	CertFile string // -E: certificate chain and key in one PEM file

	Verbosity      int    // -v
	HTML           bool   // -w, or implied by -x, -y, -z
	TableAttr      string // -x
	RowAttr        string // -y
	CellAttr       string // -z
	NoPercentiles  bool   // -d
	Short          bool   // -S
	Quiet          bool   // -q
	VariableLength bool   // -l
	GnuplotFile    string // -g
	CSVFile        string // -e
	Persist        bool   // -r: go on after receive errors

	// URL is the argument as typed; the next four are its parts.
	URL  string
	TLS  bool
	Host string // without brackets and port
	Port int
	Path string // from the first slash to the end, as it goes on the wire
	// bracketed remembers that Host was an IPv6 address in brackets.
	bracketed bool

	// ShowVersion: -V was given. Nothing else is set or checked, as in ab; the
	// caller prints Banner and exits with 0.
	ShowVersion bool

	Quirks    bool   // --quirks: print ab's figures, mistakes included
	Plain     bool   // --plain: no notes
	Strict    bool   // --strict: Prony's exit codes
	JSON      string // --json FILE
	Engine    string // --engine NAME; "" chooses
	PrintSpec bool   // --print-spec

	// Warnings are lines for standard error that did not stop the parsing.
	Warnings []string
}

// UsageError ends the command: Stdout and Stderr are what to print, Code is
// the exit status.
type UsageError struct {
	Stdout string
	Stderr string
	Code   int
}

// Error returns the first line of what is to be printed.
func (e *UsageError) Error() string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.Stderr+e.Stdout), "\n")
	return line
}

// badValue is ab's death by a value: the text and exit status 1.
func badValue(text string) error { return &UsageError{Stderr: text, Code: exitBadValue} }

// misuse is ab's death by usage: a line, the usage, and exit status 22.
func misuse(lines ...string) error {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("ab: " + l + "\n")
	}
	b.WriteString(Usage())
	return &UsageError{Stderr: b.String(), Code: exitUsage}
}

// defaults are ab's.
func defaults() Options {
	return Options{
		Requests: 1, Concurrency: 1, Timeout: 30 * time.Second,
		ContentType: "text/plain", CellAttr: "bgcolor=white",
	}
}

// heartbeat is the number of requests between two progress lines; 0: none.
func (o Options) heartbeat() int {
	if o.Quiet || o.Requests <= 150 {
		return 0
	}
	return max(100, o.Requests/10)
}

// hostField is the host as it stands in a Host header, without port.
func (o Options) hostField() string {
	if o.bracketed {
		return "[" + o.Host + "]"
	}
	return o.Host
}

// has reports whether -H gave a header of that name, and its last value.
func (o Options) has(name string) (value string, ok bool) {
	for _, h := range o.Headers {
		if strings.EqualFold(h.Name, name) {
			value, ok = h.Value, true
		}
	}
	return value, ok
}
