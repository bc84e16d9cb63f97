package ab

import (
	"errors"
	"io/fs"
	"math"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// Parse reads the arguments after the command's name by ab's rules. Options
// take effect from left to right (-t sets -n to 50000 at its place), stand
// before the URL, and numbers are read as C's atoi reads them. The files of -p
// and -u are read, and the one of -E is looked for.
//
// Every error is a *UsageError with ab's text and exit code: 22 for wrong
// usage, 1 for a bad value. With -V the answer has ShowVersion set and nothing
// else is checked.
func Parse(args []string) (Options, error) {
	o := defaults()
	s := scanner{args: args, table: table()}
	for {
		name, arg, ok, err := s.next()
		if err != nil {
			if err := o.badOption(err); err != nil {
				return o, err
			}
			break
		}
		if !ok {
			break
		}
		if name == "V" || name == "--version" {
			return Options{ShowVersion: true}, nil
		}
		if err := s.table[name].set(&o, arg); err != nil {
			return o, err
		}
	}
	return o, o.finish(s.rest())
}

// badOption decides about an option that cannot be read. ab prints a line,
// takes it for the end of the options and goes on; that is kept for Quirks,
// since a run without the options one asked for is a wrong answer.
func (o *Options) badOption(err error) error {
	var bad *optionError
	if !errors.As(err, &bad) {
		return err
	}
	if bad.fatal {
		return misuse(bad.text, "wrong number of arguments")
	}
	if !o.Quirks {
		return misuse(bad.text)
	}
	o.Warnings = append(o.Warnings, "ab: "+bad.text)
	return nil
}

// finish reads the URL and makes ab's checks, in ab's order.
func (o *Options) finish(rest []string) error {
	if len(rest) != 1 {
		return misuse("wrong number of arguments")
	}
	if o.Method == "" {
		o.Method = "GET"
	}
	if err := o.setURL(rest[0]); err != nil {
		return err
	}
	switch {
	case o.Concurrency < 0 || o.Concurrency > maxConcurrency:
		return misuse("Invalid Concurrency [Range 0.." + strconv.Itoa(maxConcurrency) + "]")
	case o.Concurrency == 0: // ab goes on and dies in its poll
		return misuse("Invalid Concurrency [Range 1.." + strconv.Itoa(maxConcurrency) + "]")
	case o.Concurrency > o.Requests:
		return misuse("Cannot use concurrency level greater than total number of requests")
	case o.ProxyHost != "" && o.TLS:
		return badValue("ab: https through a proxy (-X) is not supported\n")
	}
	if _, err := cipherSuites(o.Ciphers); err != nil {
		return badValue("error setting ciphersuite list [" + o.Ciphers + "]\n" + err.Error() + "\n")
	}
	return o.checkCert()
}

// checkCert looks for the file of -E, so that its absence is told before a run.
func (o *Options) checkCert() error {
	if o.CertFile == "" {
		return nil
	}
	f, err := os.Open(o.CertFile)
	if err != nil {
		return badValue("unable to get certificate from '" + o.CertFile + "'\n" + reason(err) + "\n")
	}
	return f.Close()
}

// atoi reads a number as C does: leading blanks, a sign, digits, and whatever
// follows is ignored. No digits are 0. Values are bounded to 32 bits.
func atoi(s string) int {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	end := 0
	if end < len(s) && (s[end] == '-' || s[end] == '+') {
		end++
	}
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	// The only errors are no digits, which gives 0, and a value out of range,
	// for which ParseInt gives the nearest one.
	n, _ := strconv.ParseInt(s[:end], 10, 32)
	return int(n)
}

// setRequests is -n.
func setRequests(o *Options, arg string) error {
	if o.Requests = atoi(arg); o.Requests <= 0 {
		return badValue("Invalid number of requests\n\n")
	}
	return nil
}

// setTimeLimit is -t. Time 0 is no limit, as in ab, but -n changes all the same.
func setTimeLimit(o *Options, arg string) error {
	n := atoi(arg)
	if n < 0 {
		return badValue("Invalid time limit\n\n")
	}
	o.TimeLimit, o.Requests = time.Duration(n)*time.Second, timeLimitRequests
	return nil
}

// setTimeout is -s. ab takes 0 and then always fails; below 0 it waits forever.
func setTimeout(o *Options, arg string) error {
	n := atoi(arg)
	switch {
	case n == 0:
		return badValue("Invalid timeout\n\n")
	case n < 0:
		o.Timeout = forever
	default:
		o.Timeout = min(time.Duration(n)*time.Second, forever)
	}
	return nil
}

// setHead is -i, which must be the first to choose a method.
func setHead(o *Options, _ string) error {
	if o.Method != "" {
		return badValue("Cannot mix HEAD with other methods\n\n")
	}
	o.Method = "HEAD"
	return nil
}

// setBody is -p and -u.
func setBody(method string) func(*Options, string) error {
	return func(o *Options, file string) error {
		if o.Method != "" {
			return badValue("Cannot mix " + method + " with other methods\n\n")
		}
		body, err := os.ReadFile(file)
		if err != nil {
			return badValue("ab: Could not open POST data file (" + file + "): " + reason(err) + "\n")
		}
		o.Method, o.HasBody, o.Body = method, true, body
		return nil
	}
}

// setSource is -B. Names are not looked up here.
func setSource(o *Options, arg string) error {
	if _, err := netip.ParseAddr(arg); err != nil {
		return badValue("ab: -B needs an IP address, not \"" + arg + "\"\n")
	}
	o.Source = arg
	return nil
}

// setProxy is -X. ab's port is 0 when none is given, which cannot work: 80.
func setProxy(o *Options, arg string) error {
	host, port, given := strings.Cut(arg, ":")
	o.ProxyHost, o.ProxyPort = host, 80
	if given {
		o.ProxyPort = atoi(port)
	}
	if host == "" || o.ProxyPort < 1 || o.ProxyPort > math.MaxUint16 {
		return badValue("ab: invalid proxy \"" + arg + "\"\n")
	}
	return nil
}

// setProtocol is -f.
func setProtocol(o *Options, arg string) error {
	switch strings.ToUpper(arg) {
	case "ALL":
		o.Protocol = ""
	case "TLS1":
		o.Protocol = "1.0"
	case "TLS1.1":
		o.Protocol = "1.1"
	case "TLS1.2":
		o.Protocol = "1.2"
	case "TLS1.3":
		o.Protocol = "1.3"
	case "SSL2", "SSL3":
		return badValue("ab: protocol " + arg + " is not supported (TLS1, TLS1.1, TLS1.2, TLS1.3 or ALL)\n")
	default:
		return badValue("ab: unknown protocol " + arg + " (TLS1, TLS1.1, TLS1.2, TLS1.3 or ALL)\n")
	}
	return nil
}

// setEngine is --engine.
func setEngine(o *Options, arg string) error {
	switch arg {
	case "auto", "io_uring", "epoll", "goroutines":
		o.Engine = arg
		return nil
	}
	return misuse("unknown engine " + strconv.Quote(arg) + " (auto, io_uring, epoll or goroutines)")
}

// reason is what went wrong with a file, without the path, which the caller
// has printed, and with a capital, as C prints it.
func reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}
