// Package testserver is a target whose behaviour is known in advance: for
// tests, for calibrating the generator, and for the demo.
//
// It has two servers. [Server] speaks HTTP/1.1 by hand over a listener, so
// that every byte it sends, and every fault, is chosen: fixed delays, a planned
// stall, a first-come-first-served queue with seeded service times, a share of
// errors, and, by path, the legal and illegal answers that have broken load
// generators before. [Responder] (Linux on amd64 and arm64) does one thing, a
// prebuilt answer, fast enough to be idle under any generator, and can hold
// each request for an exact time.
//
// What it decides for you: it listens on loopback; an answer is one Write; it
// sends no Date, so equal requests get equal bytes; a delay is never shorter
// than asked. A path whose first segment names no behaviour gets the default
// answer, so that scenarios may use any path; a behaviour with a bad argument
// answers 400 and says why.
//
// What it refuses: to log, to print, to hold unbounded heads, bodies, sizes or
// statistics, and to be an HTTP server for anything but tests.
//
// # Paths
//
// The behaviours of [Server], by path. A size is a number of bytes with an
// optional kB or MB (thousands) or KiB or MiB; a duration is Go's.
//
//	/                      the default: Delay, Queue, ErrorShare, Body apply
//	/delay/20ms            the default body after that time
//	/status/503            that status
//	/bytes/100000          a body of that size
//	/chunked/5x1000        5 chunks of 1000 bytes, with extensions and a trailer
//	/close                 Connection: close, and closes
//	/until-close           no length: the close ends the body
//	/http10                HTTP/1.0 with a length, closes without saying so
//	/http10-keepalive      HTTP/1.0 with Connection: keep-alive, stays open
//	/early                 answers before reading the request body
//	/1xx                   100, 103, then 200
//	/204, /304             no body; the 304 still carries a Content-Length
//	/head                  the default body, for use with HEAD
//	/slow-body/1s          the body in ten pieces over that time
//	/drip, /drip/5ms       the whole answer byte by byte (1 ms apart)
//	/huge-header/10MB      one header field of that size
//	/redirect, /redirect/3 302 to /, after that many hops
//	/uuid                  JSON with a random UUID, always 47 bytes
//	/echo                  the request head and body, as text
//	/variable              a body whose length differs each time
//	/work/200us            burns that much CPU time of its own, then answers
//	/work/200us+30ms       burns that much, waits that long, then answers
//	/lock/2ms              sleeps that long under one lock for all
//	/pool/20x5ms           at most 20 at a time wait 5 ms, the others queue
//	/aging/1ms+100us       after 1 ms, and 100 µs more for each second since the first
//	/hold/64kB             keeps that much memory for good, up to 1 GiB in all
//	/excess                a whole answer, and bytes nobody asked for behind it
//	/idle-close            answers; closes at the next request, not answering it
//	/idle-close/50ms       answers; closes after that long without a request
//	/close-after/3         closes after the third answer of the connection, unannounced
//	/silent                reads and never answers
//	/reset                 resets the connection instead of answering
//	/reset-body            half of the body, then a reset
//	/truncated-body        half of the body, then an orderly close
//	/truncated-chunk       closes in the middle of a chunk
//	/garbage               bytes that are not HTTP, then closes
//
// # Limits worth knowing
//
// A connection is served by one goroutine, one request at a time: requests in
// a pipeline enter the queue when their predecessor has been answered. On a
// unix socket a reset is an ordinary close.
package testserver
