package ab

import (
	"maps"
	"slices"

	"prony/internal/result"
)

// Exit codes of Prony, for --strict.
const (
	strictBad         = 1
	strictInterrupted = 130
)

// ExitCode is the status to exit with.
//
// ab's: 0 when the run ended, even if every request failed; 1 after an
// interrupt, whose report is printed; and without -r the error that ended the
// run, as errno (104 reset, 111 refused, 110 connect timed out, 24 no file
// left, 99 no port left, 32 a write failed) or, for APR's own errors, the low
// byte: 119 for a timeout, 50 for a name that cannot be resolved. An answer that
// ends early counts as a reset; TLS and malformed answers give 1.
//
// With Strict Prony's: 1 when the result is invalid, nothing was answered or
// an expectation failed; 130 after an interrupt; else 0.
func ExitCode(r *result.Run, o Options) int {
	if o.Strict {
		return strictCode(r)
	}
	if r.Load.EndedBy == "interrupt" {
		return 1
	}
	if o.Persist {
		return 0
	}
	_, code := fatal(&r.Load)
	return code
}

// strictCode is Prony's verdict as an exit status.
func strictCode(r *result.Run) int {
	unmet := func(e result.Expectation) bool { return !e.Met }
	switch {
	case r.Load.EndedBy == "interrupt":
		return strictInterrupted
	case r.Validity.Verdict == result.Invalid, answers(&r.Load) == 0, slices.ContainsFunc(r.Expect, unmet):
		return strictBad
	}
	return 0
}

// fatal is the failure that ends a run without -r and its exit code; code 0 if
// there was none. Of several the first by name is taken, so that the answer
// does not depend on chance.
func fatal(l *result.Load) (kind result.FailureKind, code int) {
	for _, name := range slices.Sorted(maps.Keys(l.Failures)) {
		if l.Failures[name] == 0 {
			continue
		}
		k := kindOf(name)
		if c := codeOf(k); c != 0 {
			return k, c
		}
	}
	return result.NoFailure, 0
}

// codeOf is the exit code of one kind, 0 for those with which a run goes on.
func codeOf(k result.FailureKind) int {
	switch k {
	case result.NoFailure, result.HTTPStatus, result.BodyDiffers:
		return 0
	case result.DNSFailed:
		return 50
	case result.ConnectRefused:
		return 111
	case result.ConnectTimeout:
		return 110
	case result.ConnectUnreachable:
		return 113
	case result.ConnectReset, result.Reset, result.ClosedEarly, result.Truncated:
		return 104
	case result.NoPorts:
		return 99
	case result.FileLimit:
		return 24
	case result.RequestTimeout, result.TLSTimeout:
		return 119
	case result.WriteFailed:
		return 32
	}
	return 1
}

// lastWords is what ab prints when it dies of a failure of that kind, "" if it
// would have gone on.
func lastWords(k result.FailureKind) string {
	switch k {
	case result.DNSFailed:
		return "apr_sockaddr_info_get(): Name or service not known (670002)"
	case result.ConnectRefused:
		return "apr_socket_recv: Connection refused (111)"
	case result.ConnectTimeout:
		return "apr_socket_recv: Connection timed out (110)"
	case result.ConnectUnreachable:
		return "apr_socket_recv: No route to host (113)"
	case result.ConnectReset, result.Reset:
		return "apr_socket_recv: Connection reset by peer (104)"
	case result.NoPorts:
		return "apr_socket_connect(): Cannot assign requested address (99)"
	case result.FileLimit:
		return "socket: Too many open files (24)"
	case result.RequestTimeout, result.TLSTimeout:
		return "apr_pollset_poll: The timeout specified has expired (70007)"
	}
	return ""
}
