package engine_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/testserver"
)

// pemFile writes the certificate of c, and its key if asked to, and returns
// the file's name. A verifier takes a leaf certificate as its own authority.
func pemFile(t *testing.T, c tls.Certificate, key bool) string {
	t.Helper()
	var b []byte
	for _, der := range c.Certificate {
		b = append(b, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	if key {
		der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})...)
	}
	name := filepath.Join(t.TempDir(), "cert.pem")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// serveTLS starts a TLS server and returns it with a file that makes its
// certificate trusted.
func serveTLS(t *testing.T, c *tls.Config) (*testserver.Server, string) {
	t.Helper()
	return serve(t, testserver.Config{TLS: c}), pemFile(t, c.Certificates[0], false)
}

// TestLiveTLSCountsAgree is the comparison with the server's count over TLS.
func TestLiveTLSCountsAgree(t *testing.T) {
	cases := []struct {
		name, path string
		change     func(*plan.Load)
	}{
		{"closed keep-alive", "/", func(*plan.Load) {}},
		{"closed no keep-alive", "/", func(l *plan.Load) { l.NoKeepAlive = true }},
		{"closed no keep-alive, TLS 1.2", "/", func(l *plan.Load) { l.NoKeepAlive, l.TLS.MaxVersion = true, "1.2" }},
		{"closed no keep-alive, not resumed", "/", func(l *plan.Load) { l.NoKeepAlive, l.TLS.NoResume = true, true }},
		{"pipeline of 8", "/", func(l *plan.Load) { l.Pipeline = 8 }},
		{"open", "/", func(l *plan.Load) { poisson(l, 1000) }},
		{"open no keep-alive", "/", func(l *plan.Load) { poisson(l, 200); l.NoKeepAlive = true; l.Connections = 64 }},
		{"body of many records", "/bytes/1MB", func(l *plan.Load) { l.Count = 20 }},
		{"chunks", "/chunked/50x1000", func(l *plan.Load) { l.Count = 100 }},
		{"until close", "/until-close", func(l *plan.Load) { l.Count = 60 }},
		{"announced close", "/close", func(l *plan.Load) { l.Count = 60 }},
		{"POST of 1 MB", "/", func(l *plan.Load) { l.Requests, l.Count = post(l.Requests[0].URL, 1_000_000), 20 }},
		{"small POST in a pipeline", "/", func(l *plan.Load) { l.Requests, l.Count, l.Pipeline = post(l.Requests[0].URL, 3000), 200, 4 }},
		{"HEAD", "/head", func(l *plan.Load) { l.Requests[0].Method = "HEAD" }},
		{"two threads", "/", func(l *plan.Load) { l.Threads, l.NoKeepAlive = 2, true }},
	}
	conf, _ := testserver.SelfSigned()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s, ca := serveTLS(t, conf)
				res := must(t, s.URL()+c.path, func(l *plan.Load) { l.Engine, l.TLS.CAFile = e, ca; c.change(l) })
				sameCount(t, res, s)
				if res.TLS == nil || !res.TLS.Verified || !strings.HasPrefix(res.TLS.Version, "TLS 1.") {
					t.Errorf("session: %+v", res.TLS)
				}
			})
		})
	}
}

// TestLiveTLSRefused covers what ends before a request is sent: nothing is sent.
func TestLiveTLSRefused(t *testing.T) {
	other, _ := testserver.SelfSigned()
	expired, _ := testserver.Expired()
	wrong, _ := testserver.WrongHost()
	good, _ := testserver.SelfSigned()
	old, _ := testserver.SelfSigned()
	old.MaxVersion = tls.VersionTLS12
	cases := []struct {
		name   string
		server *tls.Config
		trust  *tls.Config // nil: the system's authorities
		change func(*plan.TLS)
		want   result.FailureKind
	}{
		{"self-signed, by default", good, nil, func(*plan.TLS) {}, result.TLSCertificate},
		{"another authority", good, other, func(*plan.TLS) {}, result.TLSCertificate},
		{"expired", expired, expired, func(*plan.TLS) {}, result.TLSCertificate},
		{"wrong host", wrong, wrong, func(*plan.TLS) {}, result.TLSCertificate},
		{"wrong host without SNI", wrong, wrong, func(c *plan.TLS) { c.NoSNI = true }, result.TLSCertificate},
		{"self-signed without SNI", good, nil, func(c *plan.TLS) { c.NoSNI = true }, result.TLSCertificate},
		{"no common version", old, old, func(c *plan.TLS) { c.MinVersion = "1.3" }, result.TLSHandshake},
		{"no common cipher", old, old, func(c *plan.TLS) {
			c.MaxVersion, c.Ciphers = "1.2", []string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}
		}, result.TLSHandshake},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s, _ := serveTLS(t, c.server)
				_, err := load(t, s.URL(), func(l *plan.Load) {
					l.Engine = e
					if c.trust != nil {
						l.TLS.CAFile = pemFile(t, c.trust.Certificates[0], false)
					}
					c.change(&l.TLS)
				})
				unreachable(t, err, c.want)
				if st := s.Stats(); st.Requests != 0 || st.BytesIn != 0 {
					t.Errorf("the server read %d bytes and %d requests, want none", st.BytesIn, st.Requests)
				}
			})
		})
	}
}

// TestLiveTLSAccepted covers the ways to make the same certificates acceptable.
func TestLiveTLSAccepted(t *testing.T) {
	expired, _ := testserver.Expired()
	wrong, _ := testserver.WrongHost()
	good, _ := testserver.SelfSigned()
	cases := []struct {
		name   string
		server *tls.Config
		change func(*plan.TLS)
	}{
		{"trusted", good, func(*plan.TLS) {}},
		{"trusted without SNI", good, func(c *plan.TLS) { c.NoSNI = true }},
		{"wrong host, asked for by name", wrong, func(c *plan.TLS) { c.ServerName = "wrong.invalid" }},
		{"wrong host by name, without SNI", wrong, func(c *plan.TLS) { c.ServerName, c.NoSNI = "wrong.invalid", true }},
		{"insecure: self-signed", good, func(c *plan.TLS) { c.CAFile, c.Insecure = "", true }},
		{"insecure: expired", expired, func(c *plan.TLS) { c.CAFile, c.Insecure = "", true }},
		{"insecure: wrong host", wrong, func(c *plan.TLS) { c.CAFile, c.Insecure = "", true }},
		{"insecure without SNI", wrong, func(c *plan.TLS) { c.CAFile, c.Insecure, c.NoSNI = "", true, true }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s, ca := serveTLS(t, c.server)
				var insecure bool
				res := must(t, s.URL(), func(l *plan.Load) {
					l.Engine, l.Count, l.NoKeepAlive, l.TLS.CAFile = e, 40, true, ca
					c.change(&l.TLS)
					insecure = l.TLS.Insecure
				})
				sameCount(t, res, s)
				if res.TLS.Verified == insecure {
					t.Errorf("session: %+v with insecure %v", res.TLS, insecure)
				}
			})
		})
	}
}

// TestLiveSNI checks the name that the server is told.
func TestLiveSNI(t *testing.T) {
	for _, c := range []struct {
		name, want string
		o          plan.TLS
	}{
		{"the URL's host", "localhost", plan.TLS{}},
		{"a name of one's own", "wrong.invalid", plan.TLS{ServerName: "wrong.invalid"}},
		{"none", "", plan.TLS{NoSNI: true}},
		{"none but a name to verify", "", plan.TLS{NoSNI: true, ServerName: "wrong.invalid"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				var mu sync.Mutex
				names := map[string]int{}
				conf, _ := testserver.SelfSigned("localhost", "wrong.invalid")
				conf.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
					mu.Lock()
					defer mu.Unlock()
					names[h.ServerName]++
					return nil, nil
				}
				s, ca := serveTLS(t, conf)
				must(t, strings.Replace(s.URL(), "127.0.0.1", "localhost", 1), func(l *plan.Load) {
					l.TLS = c.o
					l.Engine, l.Count, l.TLS.CAFile, l.Dial = e, 20, ca, s.Addr().String()
				})
				mu.Lock()
				defer mu.Unlock()
				if names[c.want] == 0 || len(names) != 1 {
					t.Errorf("names: %v, want %q only", names, c.want)
				}
			})
		})
	}
}

// TestLiveF14Resumption compares full and resumed handshakes with the server's.
func TestLiveF14Resumption(t *testing.T) {
	for _, version := range []string{"1.2", "1.3"} {
		for _, resume := range []bool{true, false} {
			t.Run(version+map[bool]string{true: " resumed", false: " full"}[resume], func(t *testing.T) {
				eachEngine(t, func(t *testing.T, e plan.Engine) {
					conf, _ := testserver.SelfSigned()
					s, ca := serveTLS(t, conf)
					res := must(t, s.URL(), func(l *plan.Load) {
						l.Engine, l.Count, l.NoKeepAlive = e, 100, true
						l.TLS = plan.TLS{CAFile: ca, NoResume: !resume, MinVersion: version, MaxVersion: version}
					})
					var st testserver.Stats
					eventually(t, "the server counts the handshakes", func() bool {
						st = s.Stats()
						return st.TLSFull+st.TLSResumed+st.TLSFailed >= res.TLS.Full+res.TLS.Resumed && st.Open == 0
					})
					// A connection whose last flight is on its way has not yet taken its
					// request, so that one or another is opened in vain, and cut.
					n := res.TLS.Full + res.TLS.Resumed
					if res.TLS.Version != "TLS "+version || n < 100 || n > 104 {
						t.Errorf("session: %+v, want about 100 handshakes of version %s", res.TLS, version)
					}
					if resume && (res.TLS.Full > 8 || res.TLS.Resumed < 92) || !resume && res.TLS.Resumed != 0 {
						t.Errorf("session: %+v with resumption %v", res.TLS, resume)
					}
					if df, dr := st.TLSFull-res.TLS.Full, st.TLSResumed-res.TLS.Resumed; max(df, -df, dr, -dr, st.TLSFailed) > 4 {
						t.Errorf("the server counted %d full, %d resumed, %d failed handshakes, the engine %+v", st.TLSFull, st.TLSResumed, st.TLSFailed, res.TLS)
					}
				})
			})
		}
	}
}

// TestLiveClientCertificate: a server may demand one.
func TestLiveClientCertificate(t *testing.T) {
	clients := testserver.NewAuthority()
	mine, strangers := clients.Certificate(testserver.Issue{Client: true}), testserver.NewAuthority().Certificate(testserver.Issue{Client: true})
	for _, version := range []string{"1.2", "1.3"} {
		for _, c := range []struct {
			name string
			cert *tls.Certificate
			ok   bool
		}{{"given", &mine, true}, {"missing", nil, false}, {"of a stranger", &strangers, false}} {
			t.Run(version+" "+c.name, func(t *testing.T) {
				eachEngine(t, func(t *testing.T, e plan.Engine) {
					conf, _ := testserver.SelfSigned()
					s, ca := serveTLS(t, testserver.RequireClient(conf, clients.Pool()))
					res, err := load(t, s.URL(), func(l *plan.Load) {
						l.Engine = e
						l.TLS = plan.TLS{CAFile: ca, MaxVersion: version}
						if c.cert != nil {
							l.TLS.CertFile = pemFile(t, *c.cert, true)
						}
					})
					if c.ok {
						if err != nil {
							t.Fatal(err)
						}
						sameCount(t, res, s)
						return
					}
					if st := s.Stats(); st.Requests != 0 || st.TLSFailed == 0 {
						t.Errorf("the server counted %+v, want failed handshakes only", st)
					}
					if err != nil {
						unreachable(t, err, result.TLSHandshake)
						return
					}
					// TLS 1.3 tells the client only after its own part is done.
					// Its close may overtake the alert.
					if res.Requests.Completed != 0 || res.Failures["tls-handshake"] == 0 || res.Failures["other"] != 0 {
						t.Errorf("got %+v, failures %v, want tls-handshake: %+v", res.Requests, res.Failures, res.FailureDetails)
					}
				})
			})
		}
	}
}

// TestLiveBrokenHandshake covers peers that are no TLS server, or a bad one.
func TestLiveBrokenHandshake(t *testing.T) {
	hello := func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)) }
	cases := []struct {
		name   string
		handle func(net.Conn)
		want   result.FailureKind
	}{
		{"closes at once", func(net.Conn) {}, result.TLSHandshake},
		{"closes after the hello", hello, result.TLSHandshake},
		{"resets after the hello", func(c net.Conn) { hello(c); _ = c.(*net.TCPConn).SetLinger(0) }, result.TLSHandshake},
		{"silent", func(c net.Conn) { hello(c); hello(c) }, result.TLSTimeout},
		{"speaks plain HTTP", func(c net.Conn) {
			hello(c)
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
			hello(c)
		}, result.TLSHandshake},
		{"half a record", func(c net.Conn) { hello(c); _, _ = c.Write([]byte{22, 3, 3, 0, 100, 2, 0}) }, result.TLSHandshake},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			addr := serveRaw(t, c.handle)
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				_, err := load(t, "https://"+addr, func(l *plan.Load) {
					l.Engine, l.TLS.Insecure, l.Timeouts.TLS = e, true, 150*time.Millisecond
				})
				unreachable(t, err, c.want)
			})
		})
	}
}

// TestLiveTLSFaults: the failures of plain HTTP keep their kinds under TLS.
func TestLiveTLSFaults(t *testing.T) {
	conf, _ := testserver.SelfSigned()
	for _, c := range []struct {
		path string
		want result.FailureKind
	}{
		{"/truncated-body", result.Truncated}, {"/garbage", result.BadResponse}, {"/reset", result.Reset},
		{"/status/503", result.HTTPStatus}, {"/silent", result.RequestTimeout},
	} {
		t.Run(c.path[1:], func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s, ca := serveTLS(t, conf)
				res := must(t, s.URL()+c.path, func(l *plan.Load) {
					l.Engine, l.Count, l.TLS.CAFile = e, 12, ca
					if c.want == result.RequestTimeout { // a busy machine may take as long for the others
						l.Timeouts.Request = 200 * time.Millisecond
					}
				})
				if res.Requests.Failed != 12 || res.Failures[c.want.String()] != 12 || len(res.Failures) != 1 {
					t.Errorf("got %+v, failures %v, want 12 of %v: %+v", res.Requests, res.Failures, c.want, res.FailureDetails)
				}
			})
		})
	}
	t.Run("idle close F37", func(t *testing.T) {
		eachEngine(t, func(t *testing.T, e plan.Engine) {
			s, ca := serveTLS(t, conf)
			for _, path := range []string{"/close-after/3", "/idle-close"} {
				res := must(t, s.URL()+path, func(l *plan.Load) { l.Engine, l.Count, l.TLS.CAFile = e, 60, ca })
				if res.Requests.Completed != 60 || len(res.Failures) != 0 {
					t.Errorf("%s: got %+v, failures %+v, want 60 completed", path, res.Requests, res.FailureDetails)
				}
			}
		})
	})
}
