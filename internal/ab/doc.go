// Package ab is ApacheBench's command line and report over Prony's engine.
//
// It is three translations and nothing else: Parse reads ab's arguments by
// ab's rules (order included), Options.Plan says what they amount to, and
// Render prints a finished run the way ab 2.4 prints its own, so that scripts
// and parsers written for ab go on working.
//
// What it decides for you: the bytes on the wire are ab's, header by header;
// answers are framed as HTTP, so that chunked and kept-alive ones neither hang
// nor end without a report; and where ab's own figure is wrong (the median of
// an odd number of requests, a reset counted twice, a CSV that reads past its
// data) the right one is printed, with a line that begins "Note: " after the
// report. Options.Quirks prints ab's figure instead.
//
// What it refuses: SSL 2 and 3, https through a proxy, cipher lists that are
// OpenSSL expressions, and options that ab would skip without saying so. It opens no connection and starts no goroutine; the only files it
// touches are those named by -p, -u, -E, -e and -g.
package ab
