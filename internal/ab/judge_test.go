package ab_test

import (
	"crypto/tls"
	"strings"
	"testing"

	"prony/internal/ab"
	"prony/internal/result"
)

func TestExitCode(t *testing.T) {
	failing := func(k result.FailureKind) func(*result.Run) {
		return func(r *result.Run) { fail(r, k, 1); r.Load.EndedBy = "abort" }
	}
	interrupted := func(r *result.Run) { r.Load.EndedBy = "interrupt" }
	tests := []struct {
		name, options string
		edit          func(*result.Run)
		want          int
	}{
		{"good", "", nil, 0},
		{"reset", "", failing(result.Reset), 104},
		{"reset with -r", "-r", failing(result.Reset), 0},
		{"refused", "", failing(result.ConnectRefused), 111},
		{"connect timeout", "", failing(result.ConnectTimeout), 110},
		{"unreachable", "", failing(result.ConnectUnreachable), 113},
		{"no ports", "", failing(result.NoPorts), 99},
		{"no files", "", failing(result.FileLimit), 24},
		{"timeout", "", failing(result.RequestTimeout), 119},
		{"name", "", failing(result.DNSFailed), 50},
		{"write", "", failing(result.WriteFailed), 32},
		{"early end", "", failing(result.Truncated), 104},
		{"garbage", "", failing(result.BadResponse), 1},
		{"handshake", "", failing(result.TLSHandshake), 1},
		{"length", "", failing(result.BodyDiffers), 0},
		{"404", "", failing(result.HTTPStatus), 0},
		{"interrupt", "", interrupted, 1},
		{"strict good", "--strict", nil, 0},
		{"strict some failed", "--strict -r", failing(result.Reset), 0},
		{"strict interrupt", "--strict", interrupted, 130},
		{"strict invalid", "--strict", func(r *result.Run) { r.Validity.Verdict = result.Invalid }, 1},
		{"strict nothing", "--strict -r", func(r *result.Run) { fail(r, result.Reset, 20) }, 1},
		{"strict unmet", "--strict", func(r *result.Run) { r.Expect = []result.Expectation{{Met: false}} }, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ab.ExitCode(hello(20, tt.edit), parse(t, tt.options+" "+run10)); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	tests := []struct {
		name, options string
		edit          func(*result.Run)
		want          string // in one of the notes; "": no note at all
	}{
		{"nothing to say", "-S", nil, ""},
		{"keep-alive", "-k", keepAlive, ""},
		{"length", "-r", func(r *result.Run) { fail(r, result.BodyDiffers, 2) }, "2 answers of another length than the first; for pages that vary use -l"},
		{"reset", "-r", func(r *result.Run) { fail(r, result.Reset, 2) }, "2 requests reset and counted once"},
		{"reset ends", "", func(r *result.Run) { fail(r, result.Reset, 1) }, "ab would have printed \"apr_socket_recv: Connection reset by peer (104)\" and no report"},
		{"handshake ends", "", func(r *result.Run) { fail(r, result.TLSHandshake, 1) }, "ends the run (tls-handshake); ab would have gone on"},
		{"early end", "-r", func(r *result.Run) { fail(r, result.ClosedEarly, 1) }, "1 answer ended early"},
		{"timeout", "-r -s 3", func(r *result.Run) { fail(r, result.RequestTimeout, 1) }, "1 request failed after -s 3"},
		{"idle close", "-k", func(r *result.Run) { keepAlive(r); r.Load.Connections.Resent = 4 }, "4 requests sent again"},
		{"chunked", "", func(r *result.Run) {
			r.Load.Samples[0].Head = "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n"
		}, "the answers are chunked"},
		{"silent keep-alive", "-k", func(r *result.Run) {
			keepAlive(r)
			r.Load.Samples[0].Head = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
		}, "without saying \"Keep-Alive\""},
		{"connections", "", func(r *result.Run) { r.Load.Connections.Opened = 6 }, "4 of 10 connections never opened"},
		{"window", "-b 4096", nil, "-b is not applied"},
		{"cookies", "-C a=1 -C b=2", nil, "all 2 cookies were sent"},
		{"clipped", "-t 30 -q", nil, "ended by 50000 requests before -t 30 was over"},
		{"csv", "-e /dev/null", nil, "a row of the CSV file repeats the longest time"},
		{"no records", "", func(r *result.Run) { r.Load.Records = nil }, "not kept one by one"},
		{"html", "-w", nil, "the table of times has rounded averages"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line := "-n 20 " + tt.options + " -c 10 http://127.0.0.1/"
			notes := ab.Notes(hello(20, tt.edit), parse(t, line))
			all := strings.Join(notes, "\n")
			if tt.want == "" && all != "" || !strings.Contains(all, tt.want) {
				t.Errorf("got %q, want %q", all, tt.want)
			}
			for _, n := range notes {
				if !strings.HasPrefix(n, "Note: ") || strings.Contains(n, "\n") {
					t.Errorf("%q is no note", n)
				}
			}
		})
	}
}

// A median is only noted where another one is printed.
func TestNoteMedian(t *testing.T) {
	r := hello(3, func(r *result.Run) {
		for i, total := range []int64{1, 2, 9} {
			r.Load.Records[i].Total = total * ms
		}
	})
	for options, want := range map[string]bool{"": true, "--quirks": false, "-S": false, "-w": false} {
		all := strings.Join(ab.Notes(r, parse(t, options+" -n 3 http://h/")), "\n")
		if got := strings.Contains(all, "median"); got != want {
			t.Errorf("%q: note %v, want %v: %s", options, got, want, all)
		}
	}
}

// Every suite of crypto/tls can be printed as OpenSSL names it.
func TestCipherNames(t *testing.T) {
	for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		r := hello(1, func(r *result.Run) { r.Load.TLS = &result.TLS{Version: "1.3", Cipher: s.Name, KeyBits: 256} })
		text := render(t, r, parse(t, "https://h/"))
		_, rest, _ := strings.Cut(text, "SSL/TLS Protocol:       TLSv1.3,")
		line, _, _ := strings.Cut(rest, "\n")
		fields := strings.Split(line, ",")
		if len(fields) != 3 || strings.Contains(fields[0], "_WITH_") || fields[1] != "256" || fields[2] == "0" {
			t.Errorf("%s: got %q", s.Name, line)
		}
	}
}

func TestTempKey(t *testing.T) {
	for curve, want := range map[string]string{
		"CurveP256": "Server Temp Key:        ECDH prime256v1 256 bits\n", "P-384": "Server Temp Key:        ECDH secp384r1 384 bits\n",
		"CurveP521": "Server Temp Key:        ECDH secp521r1 521 bits\n", "X25519": "Server Temp Key:        X25519 253 bits\n",
		"X25519MLKEM768": "Server Temp Key:        X25519MLKEM768\n",
	} {
		r := hello(1, func(r *result.Run) { secure(r); r.Load.TLS.Curve = curve })
		if text := render(t, r, parse(t, "https://h/")); !strings.Contains(text, want) {
			t.Errorf("%s: no %q", curve, want)
		}
	}
}

func TestServerSoftware(t *testing.T) {
	for header, want := range map[string]string{
		"Server: nginx": "nginx", "SERVER:  a/1 (b)": "a/1", "X-Server: no": "", "Server: a\x1b[2J": "a", "Server:": "",
		"Server: " + strings.Repeat("x", 2000): strings.Repeat("x", 1023),
	} {
		r := hello(1, func(r *result.Run) { r.Load.Samples[0].Head = "HTTP/1.0 200 OK\r\n" + header + "\r\n\r\n" })
		if text := render(t, r, parse(t, "http://h/")); !strings.Contains(text, "\nServer Software:        "+want+"\n") {
			t.Errorf("%q: not %q", header, want)
		}
	}
}

func TestDocumentLength(t *testing.T) {
	tests := []struct {
		name, options string
		edit          func(*result.Run)
		want          string
	}{
		{"all alike", "", func(r *result.Run) { r.Load.BodyBytes = 20 * 9 }, "9 bytes"},
		{"HEAD", "-i", nil, "0 bytes"},
		{"some differ", "", func(r *result.Run) { fail(r, result.BodyDiffers, 1); r.Load.BodyBytes = 130 }, "6 bytes"},
		{"no length announced", "", func(r *result.Run) {
			fail(r, result.BodyDiffers, 1)
			r.Load.BodyBytes, r.Load.Samples[0].Head = 130, "HTTP/1.0 200 OK\r\n\r\n"
		}, "7 bytes"},
		{"good sample first", "", func(r *result.Run) {
			fail(r, result.BodyDiffers, 1)
			r.Load.Samples = append([]result.Sample{{Status: 500, Head: "HTTP/1.0 500 X\r\nContent-Length: 99\r\n\r\n"}}, r.Load.Samples...)
		}, "6 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := render(t, hello(20, tt.edit), parse(t, tt.options+" "+run10))
			if !strings.Contains(text, "\nDocument Length:        "+tt.want+"\n") {
				t.Errorf("not %q in\n%s", tt.want, text)
			}
		})
	}
}

func TestKeepAliveRequests(t *testing.T) {
	tests := []struct {
		name         string
		closed, idle int64
		want         string
	}{{"all", 0, 0, "20"}, {"some closed", 3, 0, "17"}, {"idle closes kept", 3, 2, "19"}, {"never below zero", 90, 0, "0"}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := hello(20, func(r *result.Run) {
				r.Load.Connections.ClosedByPeer, r.Load.Connections.IdleCloses = tt.closed, tt.idle
			})
			if text := render(t, r, parse(t, "-k "+run10)); !strings.Contains(text, "\nKeep-Alive requests:    "+tt.want+"\n") {
				t.Errorf("not %s", tt.want)
			}
		})
	}
}

// What the original says when it dies was seen, or follows from errno's text.
func TestLastWords(t *testing.T) {
	for kind, want := range map[result.FailureKind]string{
		result.DNSFailed:          "apr_sockaddr_info_get(): Name or service not known (670002)",
		result.ConnectRefused:     "apr_socket_recv: Connection refused (111)",
		result.ConnectTimeout:     "apr_socket_recv: Connection timed out (110)",
		result.ConnectUnreachable: "apr_socket_recv: No route to host (113)",
		result.Reset:              "apr_socket_recv: Connection reset by peer (104)",
		result.NoPorts:            "apr_socket_connect(): Cannot assign requested address (99)",
		result.FileLimit:          "socket: Too many open files (24)",
		result.RequestTimeout:     "apr_pollset_poll: The timeout specified has expired (70007)",
	} {
		r := hello(20, func(r *result.Run) { fail(r, kind, 1) })
		if all := strings.Join(ab.Notes(r, parse(t, run10)), "\n"); !strings.Contains(all, want) {
			t.Errorf("%s: got %q, want %q", kind, all, want)
		}
	}
}

// Complete requests are the answered ones, whatever ended the load.
func TestComplete(t *testing.T) {
	tests := []struct {
		name, options string
		edit          func(*result.Run)
		complete      string
		seconds       string
	}{
		{"all", "", nil, "20", "0.162"},
		{"with a drain", "", func(r *result.Run) { r.Load.DrainUS = 1e6 }, "20", "1.162"},
		{"interrupted", "", func(r *result.Run) { r.Load.EndedBy, r.Load.Requests.InWindow, r.Load.DrainUS = "interrupt", 7, 1e6 }, "7", "0.162"},
		{"404 and another length are answers", "-r", func(r *result.Run) { fail(r, result.HTTPStatus, 2); fail(r, result.BodyDiffers, 3) }, "20", "0.162"},
		{"timeouts are not", "-r", func(r *result.Run) { fail(r, result.RequestTimeout, 5) }, "15", "0.162"},
		{"by the ledger", "-r", func(r *result.Run) {
			fail(r, result.Reset, 4)
			fail(r, result.HTTPStatus, 5)
			r.Load.Records = r.Load.Records[:2]
		}, "16", "0.162"},
		{"quirk", "-r --quirks", func(r *result.Run) { fail(r, result.Reset, 4) }, "20", "0.162"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fields := usersFields(render(t, hello(20, tt.edit), parse(t, tt.options+" "+run10)))
			if fields["complete"] != tt.complete || fields["seconds"] != tt.seconds {
				t.Errorf("got %s in %s s, want %s in %s s", fields["complete"], fields["seconds"], tt.complete, tt.seconds)
			}
		})
	}
}

// A failure of a kind this program does not know is an exception.
func TestUnknownKind(t *testing.T) {
	r := hello(20, func(r *result.Run) { r.Load.Failures = map[string]int64{"from-the-future": 2} })
	if text := render(t, r, parse(t, "-r "+run10)); !strings.Contains(text, "(Connect: 0, Receive: 0, Length: 0, Exceptions: 2)") {
		t.Error("not among the exceptions")
	}
}

// The mean of any sample is within one deviation of its median, so ab's lines
// about it come from its rounding: printed as a quirk, and only then.
func TestDoubts(t *testing.T) {
	r := hello(4, func(r *result.Run) {
		for i, us := range []int64{400, 450, 520, 560} {
			r.Load.Records[i] = result.Record{Total: us * 1000, FirstByte: us * 500}
		}
	})
	text := render(t, r, parse(t, "--quirks -n 4 http://h/"))
	if !strings.Contains(text, "ERROR: The median and mean for the total time are more than twice the standard\n"+
		"       deviation apart. These results are NOT reliable.\n") {
		t.Errorf("no ERROR among the quirks:\n%s", text)
	}
	if text := render(t, r, parse(t, "-n 4 http://h/")); strings.Contains(text, "ERROR:") || strings.Contains(text, "WARNING:") {
		t.Error("a doubt without cause")
	}
}
