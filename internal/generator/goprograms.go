package generator

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func hey() Program {
	return Program{
		Name: "hey", Install: "go install github.com/rakyll/hey@latest", needs: []string{"hey"}, build: buildHey,
		Can: Ability{NoOpen: "its -q paces each connection, which is a closed loop with pauses", Count: true, CountEvenly: true,
			Step: time.Millisecond, TimeoutStep: time.Second, NoKeepAlive: true, Body: true, Host: true, Head: true, SameHeader: true, Interrupt: true},
		Doubt: "hey keeps a million answers and drops those behind, asks for compressed answers, and says Content-Type: text/html",
	}
}

// buildHey is "hey -z 10s -c 50 URL".
func buildHey(w work) (job, error) {
	l := w.l
	args := []string{"-z", l.Duration.String()}
	if l.Count > 0 {
		args = []string{"-n", strconv.FormatInt(l.Count, 10)}
	}
	args = append(args, "-c", strconv.Itoa(l.Connections), "-t", seconds(w.timeout()), "-disable-redirects")
	if l.NoKeepAlive {
		args = append(args, "-disable-keepalive")
	}
	if w.q.Host != "" {
		args = append(args, "-host", w.q.Host)
		w.q.Host = ""
	}
	request, err := heyRequest(w)
	if err != nil {
		return job{}, err
	}
	return w.job("hey", append(append(args, request...), w.url))
}

// heyRequest is the method, the body and the headers for hey and oha, whose
// flags are the same.
func heyRequest(w work) ([]string, error) {
	var args []string
	if w.q.Method != "GET" {
		args = append(args, "-m", w.q.Method)
	}
	if len(w.q.Body) > 0 {
		body, err := w.file("body", w.q.Body)
		if err != nil {
			return nil, err
		}
		args = append(args, "-D", body)
	}
	contentType, others := w.contentType()
	if contentType != "" {
		args = append(args, "-T", contentType)
	}
	return append(args, others.headers("-H")...), nil
}

func oha() Program {
	return Program{
		Name: "oha", Install: "cargo install oha", needs: []string{"oha"}, version: []string{"--version"}, build: buildOha,
		Can: Ability{NoOpen: "its -q waits for a free connection and forgets the delay", Count: true, Step: time.Millisecond, TimeoutStep: time.Millisecond,
			NoKeepAlive: true, Body: true, Host: true, Head: true, SameHeader: true, Verifies: true, Interrupt: true},
		Doubt: "oha cuts requests off at the end and prints them as errors",
	}
}

// buildOha is "oha --no-tui -z 10s -c 50 URL".
func buildOha(w work) (job, error) {
	l := w.l
	args := []string{"--no-tui", "-z", millis(l.Duration)}
	if l.Count > 0 {
		args = []string{"--no-tui", "-n", strconv.FormatInt(l.Count, 10)}
	}
	args = append(args, "-c", strconv.Itoa(l.Connections), "-t", millis(w.timeout()), "-r", "0")
	if l.NoKeepAlive {
		args = append(args, "--disable-keepalive")
	}
	if l.TLS.Insecure {
		args = append(args, "--insecure")
	}
	if w.q.Host != "" {
		args = append(args, "--host", w.q.Host)
		w.q.Host = ""
	}
	request, err := heyRequest(w)
	if err != nil {
		return job{}, err
	}
	return w.job("oha", append(append(args, request...), w.url))
}

func bombardier() Program {
	return Program{
		Name: "bombardier", Install: "go install github.com/codesenberg/bombardier@latest", needs: []string{"bombardier"}, version: []string{"--version"},
		build: buildBombardier,
		Can: Ability{NoOpen: "its -r waits for a free connection and forgets the delay", Count: true, Step: time.Millisecond, TimeoutStep: time.Millisecond,
			NoKeepAlive: true, Body: true, Head: true, SameHeader: true, Verifies: true, ClientCert: true, Interrupt: true},
		Doubt: "bombardier's requests per second are the mean of samples, not the count over the time",
	}
}

// buildBombardier is "bombardier -c 50 -d 10s -l URL".
func buildBombardier(w work) (job, error) {
	l := w.l
	args := []string{"-c", strconv.Itoa(l.Connections), "-d", l.Duration.String()}
	if l.Count > 0 {
		args = []string{"-c", strconv.Itoa(l.Connections), "-n", strconv.FormatInt(l.Count, 10)}
	}
	args = append(args, "-l", "-p", "i,r", "-t", w.timeout().String())
	if l.TLS.Insecure {
		args = append(args, "-k")
	}
	if l.TLS.CertFile != "" {
		args = append(args, "--cert", l.TLS.CertFile, "--key", l.TLS.KeyFile)
	}
	if w.q.Method != "GET" {
		args = append(args, "-m", w.q.Method)
	}
	if len(w.q.Body) > 0 {
		body, err := w.file("body", w.q.Body)
		if err != nil {
			return job{}, err
		}
		args = append(args, "-f", body)
	}
	args = append(args, w.headers("-H", w.closing()...)...) // -a is of its other client
	return w.job("bombardier", append(args, w.url))
}

func vegeta() Program {
	return Program{
		Name: "vegeta", Install: "go install github.com/tsenart/vegeta/v12@latest", needs: []string{"vegeta"}, version: []string{"-version"}, build: buildVegeta,
		Can: Ability{Step: time.Millisecond, TimeoutStep: time.Millisecond, NoKeepAlive: true, Body: true, Host: true, SameHeader: true, Head: true,
			EmptyHeader: true, Source: true, Verifies: true, ClientCert: true, CA: true, Interrupt: true},
		Doubt: "vegeta writes a record of every answer to a file while it loads, and asks for compressed answers",
	}
}

// buildVegeta is "vegeta attack -rate=100/s -duration=10s <targets", and a
// report of what that wrote. Without a rate it is a closed loop: -rate=0, with
// as many workers as connections.
func buildVegeta(w work) (job, error) {
	l := w.l
	rate := "0"
	if l.Arrivals.Open() {
		rate = perSecond(l.Arrivals.Segments[0].From)
	}
	results := filepath.Join(w.dir, "results.bin")
	args := []string{"attack", "-rate=" + rate, "-duration=" + l.Duration.String(), "-max-workers=" + strconv.Itoa(l.Connections),
		"-timeout=" + w.timeout().String(), "-redirects=-1", "-http2=false", "-output=" + results}
	if rate == "0" {
		args = append(args, "-workers="+strconv.Itoa(l.Connections))
	}
	if l.NoKeepAlive {
		args = append(args, "-keepalive=false")
	}
	if len(l.Sources) == 1 {
		args = append(args, "-laddr="+l.Sources[0])
	}
	args = append(args, vegetaTLS(w)...)
	load, err := w.command("vegeta", args...)
	if err != nil {
		return job{}, err
	}
	if load.stdin, err = vegetaTarget(w); err != nil {
		return job{}, err
	}
	report := func() (command, error) { return w.command("vegeta", "report", results) }
	return job{load: load, report: report}, nil
}

func vegetaTLS(w work) []string {
	var args []string
	t := w.l.TLS
	if t.Insecure {
		args = append(args, "-insecure")
	}
	if t.CAFile != "" {
		args = append(args, "-root-certs="+t.CAFile)
	}
	if t.CertFile != "" {
		args = append(args, "-cert="+t.CertFile, "-key="+t.KeyFile)
	}
	return args
}

// vegetaTarget is the target as a text: "GET URL", headers, and a file behind @.
func vegetaTarget(w work) (string, error) {
	lines := []string{w.q.Method + " " + w.url}
	for i, h := range w.headers("") {
		if i%2 == 1 {
			lines = append(lines, h)
		}
	}
	if len(w.q.Body) > 0 {
		body, err := w.file("body", w.q.Body)
		if err != nil {
			return "", err
		}
		lines = append(lines, "@"+body)
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// perSecond is a rate as vegeta takes it, a whole number over a time: 2.5 a
// second are 2500 in 1000 seconds.
func perSecond(rate float64) string {
	if rate == float64(int64(rate)) {
		return strconv.FormatInt(int64(rate), 10) + "/1s"
	}
	return strconv.FormatInt(int64(rate*1000+0.5), 10) + "/1000s"
}
