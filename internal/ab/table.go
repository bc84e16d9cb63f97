package ab

import (
	"encoding/base64"
	"strings"

	"prony/internal/plan"
)

// maxCredentials is the size of ab's buffer for encoded credentials.
const maxCredentials = 1024

// table holds every option. It is flat on purpose: one line each, in the
// order of the usage.
func table() map[string]option {
	flag := func(set func(*Options)) option {
		return option{set: func(o *Options, _ string) error { set(o); return nil }}
	}
	value := func(set func(*Options, string)) option {
		return option{arg: true, set: func(o *Options, arg string) error { set(o, arg); return nil }}
	}
	checked := func(set func(*Options, string) error) option { return option{arg: true, set: set} }
	help := option{set: func(*Options, string) error { return &UsageError{Stderr: Usage(), Code: exitUsage} }}
	return map[string]option{
		"n": checked(setRequests),
		"c": value(func(o *Options, a string) { o.Concurrency = atoi(a) }),
		"t": checked(setTimeLimit),
		"s": checked(setTimeout),
		"b": value(func(o *Options, a string) { o.Window = atoi(a) }),
		"B": checked(setSource),
		"p": checked(setBody("POST")),
		"u": checked(setBody("PUT")),
		"T": value(func(o *Options, a string) { o.ContentType = a }),
		"v": value(func(o *Options, a string) { o.Verbosity = atoi(a) }),
		"w": flag(func(o *Options) { o.HTML = true }),
		"i": {set: setHead},
		"x": value(func(o *Options, a string) { o.HTML, o.TableAttr = true, a }),
		"y": value(func(o *Options, a string) { o.HTML, o.RowAttr = true, a }),
		"z": value(func(o *Options, a string) { o.HTML, o.CellAttr = true, a }),
		"C": value(func(o *Options, a string) { o.Cookies = append(o.Cookies, a) }),
		"H": checked(addHeader),
		"A": checked(addCredentials("Authorization", "Authentication")),
		"P": checked(addCredentials("Proxy-Authorization", "Proxy")),
		"X": checked(setProxy),
		"V": {}, // Parse returns before it is set
		"k": flag(func(o *Options) { o.KeepAlive = true }),
		"d": flag(func(o *Options) { o.NoPercentiles = true }),
		"S": flag(func(o *Options) { o.Short = true }),
		"q": flag(func(o *Options) { o.Quiet = true }),
		"l": flag(func(o *Options) { o.VariableLength = true }),
		"g": value(func(o *Options, a string) { o.GnuplotFile = a }),
		"e": value(func(o *Options, a string) { o.CSVFile = a }),
		"r": flag(func(o *Options) { o.Persist = true }),
		"m": value(func(o *Options, a string) { o.Method = a }),
		"h": help,
		"I": flag(func(o *Options) { o.NoSNI = true }),
		"Z": value(func(o *Options, a string) { o.Ciphers = a }),
		"f": checked(setProtocol),
		"E": value(func(o *Options, a string) { o.CertFile = a }),

		"--help":       help,
		"--version":    {},
		"--quirks":     flag(func(o *Options) { o.Quirks = true }),
		"--plain":      flag(func(o *Options) { o.Plain = true }),
		"--strict":     flag(func(o *Options) { o.Strict = true }),
		"--json":       value(func(o *Options, a string) { o.JSON = a }),
		"--engine":     checked(setEngine),
		"--print-spec": flag(func(o *Options) { o.PrintSpec = true }),
	}
}

// addHeader is -H. Several lines in one argument are several headers, which
// some scripts use; a line without a colon is no header and would break the
// request, so it is refused.
func addHeader(o *Options, arg string) error {
	for line := range strings.SplitSeq(arg, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || name == "" {
			return badValue("ab: invalid header \"" + line + "\": want \"Name: value\"\n")
		}
		o.Headers = append(o.Headers, plan.Header{Name: name, Value: strings.TrimSpace(value)})
	}
	return nil
}

// addCredentials is -A and -P: "user:password", sent as RFC 7617 says.
func addCredentials(header, what string) func(*Options, string) error {
	return func(o *Options, arg string) error {
		arg = strings.TrimLeft(arg, " \t\n\v\f\r")
		text := base64.StdEncoding.EncodeToString([]byte(arg))
		if len(text) >= maxCredentials {
			return badValue(what + " credentials too long\n\n")
		}
		o.Credentials = append(o.Credentials, plan.Header{Name: header, Value: "Basic " + text})
		return nil
	}
}
