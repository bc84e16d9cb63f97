package generator

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

func wrk() Program {
	return Program{
		Name: "wrk", Install: "apt-get install wrk", needs: []string{"wrk"}, version: []string{"-v"}, build: buildWrk,
		Can: Ability{NoOpen: "it has none", Step: time.Second, TimeoutStep: time.Second, EvenThreads: true, NoKeepAlive: true,
			Body: true, Host: true, EmptyHeader: true, Script: true, Interrupt: true},
		Doubt: "wrk adds samples that were never taken behind slow ones, so that its mean, deviation and percentiles " +
			"are not those of the requests it sent; a request without an answer is in none of its figures",
	}
}

// buildWrk is "wrk -t2 -c50 -d10s --latency --timeout 10 URL"; a method or a
// body needs a script, which is one of three lines.
func buildWrk(w work) (job, error) {
	l := w.l
	args := []string{"-t" + strconv.Itoa(l.Threads), "-c" + strconv.Itoa(l.Connections), "-d" + seconds(l.Duration) + "s", "--latency",
		"--timeout", seconds(w.timeout())}
	args = append(args, w.headers("-H", w.closing()...)...)
	script := ""
	if l.Script != nil {
		script = l.Script.File
	} else if w.q.Method != "GET" || len(w.q.Body) > 0 {
		text := "wrk.method = " + lua(w.q.Method) + "\n"
		if len(w.q.Body) > 0 {
			text += "wrk.body = " + lua(string(w.q.Body)) + "\n"
		}
		var err error
		if script, err = w.file("request.lua", []byte(text)); err != nil {
			return job{}, err
		}
	}
	if script != "" {
		args = append(args, "-s", script)
	}
	args = append(args, w.url)
	if l.Script != nil && len(l.Script.Args) > 0 {
		args = append(append(args, "--"), l.Script.Args...)
	}
	return w.job("wrk", args)
}

// lua quotes any bytes as a string of Lua 5.1.
func lua(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			fmt.Fprintf(&b, "\\%03d", c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func ab() Program {
	return Program{
		Name: "ab", Install: "apt-get install apache2-utils", needs: []string{"ab"}, version: []string{"-V"}, build: buildAB,
		Can: Ability{NoOpen: "it has none", Count: true, CountAndTime: true, Step: time.Second, TimeoutStep: time.Second, HTTP10: true,
			NoKeepAlive: true, Body: true, Host: true, Head: true, SameHeader: true, EmptyHeader: true, SameLength: true, Source: true, NoSNI: true, Interrupt: true},
		Doubt: "ab works on one core and in HTTP/1.0, prints whole milliseconds, and counts redirects among its bad answers",
	}
}

// abFastest bounds the requests of a run by time: ab keeps a record of each,
// for as many as it was told beforehand, and does not get near this rate.
const abFastest = 200_000

// buildAB is "ab -k -t 10 -n 2000000 -c 50 URL". -t sets -n to 50,000 where it
// stands, so that -n stands behind it. -r, since ab gives up without a report
// at the first reset otherwise; -l unless lengths are to be compared.
func buildAB(w work) (job, error) {
	l := w.l
	var args []string
	if !l.NoKeepAlive {
		args = append(args, "-k")
	}
	n := l.Count
	if l.Duration > 0 {
		args = append(args, "-t", seconds(l.Duration))
		if n == 0 {
			n = min(max(int64(l.Duration/time.Second)*abFastest, int64(l.Connections)), 100_000_000)
		}
	}
	args = append(args, "-n", strconv.FormatInt(n, 10), "-c", strconv.Itoa(l.Connections), "-s", seconds(w.timeout()), "-r")
	if !l.SameLength {
		args = append(args, "-l")
	}
	if len(l.Sources) == 1 {
		args = append(args, "-B", l.Sources[0])
	}
	if l.TLS.NoSNI {
		args = append(args, "-I")
	}
	request, err := abRequest(w)
	if err != nil {
		return job{}, err
	}
	return w.job("ab", append(append(args, request...), w.url))
}

// abRequest is the method, the body with its type, and the headers.
func abRequest(w work) ([]string, error) {
	var args []string
	contentType, others := w.contentType()
	switch {
	case len(w.q.Body) > 0:
		body, err := w.file("body", w.q.Body)
		if err != nil {
			return nil, err
		}
		args = append(args, "-p", body)
		if w.q.Method != "POST" {
			args = append(args, "-m", w.q.Method)
		}
		if contentType != "" {
			args = append(args, "-T", contentType)
		}
		w = others
	case w.q.Method == "HEAD":
		args = append(args, "-i")
	case w.q.Method != "GET":
		args = append(args, "-m", w.q.Method)
	}
	return append(args, w.headers("-H")...), nil
}

func h2load() Program {
	return Program{
		Name: "h2load", Install: "apt-get install nghttp2-client", needs: []string{"h2load"}, version: []string{"--version"}, build: buildH2load,
		Can: Ability{NoOpen: "its --rps paces each connection, which is a closed loop with pauses", Count: true, Step: time.Millisecond,
			OwnWarmup: true, Pipeline: true, Body: true, Host: true, Head: true, SameHeader: true, EmptyHeader: true},
		Doubt: "h2load has no timeout of a request and does not tell of connections that were refused",
	}
}

// buildH2load is "h2load --h1 -t2 -c50 -D10s URL".
func buildH2load(w work) (job, error) {
	l := w.l
	args := []string{"--h1", "-t" + strconv.Itoa(max(l.Threads, 1)), "-c" + strconv.Itoa(l.Connections)}
	if l.Count > 0 {
		args = append(args, "-n"+strconv.FormatInt(l.Count, 10))
	} else {
		args = append(args, "-D"+millis(l.Duration))
		if l.Warmup > 0 {
			args = append(args, "--warm-up-time="+millis(l.Warmup))
		}
	}
	if l.Pipeline > 1 {
		args = append(args, "-m"+strconv.Itoa(l.Pipeline))
	}
	if len(w.q.Body) > 0 {
		body, err := w.file("body", w.q.Body)
		if err != nil {
			return job{}, err
		}
		args = append(args, "-d", body)
	}
	if usual := len(w.q.Body) > 0 && w.q.Method == "POST" || len(w.q.Body) == 0 && w.q.Method == "GET"; !usual {
		args = append(args, "-H", ":method: "+w.q.Method)
	}
	if w.q.Host != "" {
		args = append(args, "-H", ":authority: "+w.q.Host)
		w.q.Host = ""
	}
	return w.job("h2load", append(append(args, w.headers("-H")...), w.url))
}

// millis is a time as h2load takes it.
func millis(d time.Duration) string {
	if d%time.Second == 0 {
		return seconds(d) + "s"
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}
