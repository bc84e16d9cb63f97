package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nginx is a server of our own, on loopback, in a folder of the test.
type nginx struct {
	file, dir string
	plain     int // port of http
	secure    int // of https
	churn     int // of http that closes after 100 requests
	status    int // of stub_status
	cmd       *exec.Cmd
}

// configuration is nginx's: one worker, so that its counters are exact.
const configuration = `
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid %[1]s/pid;
error_log %[1]s/error.log warn;
events { worker_connections 9500; }
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	default_type text/plain;
	keepalive_requests 1000000000;
	keepalive_timeout 60s;
	upstream self { server 127.0.0.1:%[2]d; keepalive 32; keepalive_requests 1000000000; }
	server {
		listen 127.0.0.1:%[2]d backlog=8192;
		listen 127.0.0.1:%[3]d ssl;
		ssl_certificate %[1]s/cert.pem;
		ssl_certificate_key %[1]s/cert.pem;
		location / { return 200 "123456"; }
		location /missing { return 404 "nothing here\n"; }
		location /large { root %[1]s/html; }
		location /proxy/ { proxy_pass http://self/; proxy_http_version 1.1; proxy_set_header Connection ""; }
	}
	server {
		listen 127.0.0.1:%[4]d;
		keepalive_requests 100;
		location / { return 200 "123456"; }
	}
	server {
		listen 127.0.0.1:%[5]d;
		location / { stub_status; }
	}
}
`

// startNginx starts a server and ends it with the test.
func startNginx(t *testing.T) *nginx {
	t.Helper()
	n := &nginx{file: need(t, "nginx", "apt-get install nginx-core"), dir: t.TempDir()}
	ports := freePorts(t, 4)
	n.plain, n.secure, n.churn, n.status = ports[0], ports[1], ports[2], ports[3]
	n.write(t, "cert.pem", certificate(t))
	n.write(t, "nginx.conf", fmt.Appendf(nil, configuration, n.dir, n.plain, n.secure, n.churn, n.status))
	if err := os.MkdirAll(filepath.Join(n.dir, "html"), 0o777); err != nil {
		t.Fatal(err)
	}
	n.write(t, filepath.Join("html", "large"), []byte(strings.Repeat("0123456789abcde\n", 8192)))
	// The worker may run as another user.
	if err := filepath.Walk(filepath.Dir(n.dir), func(file string, info os.FileInfo, err error) error {
		if err == nil && info.IsDir() {
			err = os.Chmod(file, 0o755)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	n.start(t)
	t.Cleanup(func() { n.stop(t) })
	return n
}

func (n *nginx) write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(n.dir, name), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// start runs nginx and waits until it answers.
func (n *nginx) start(t *testing.T) {
	t.Helper()
	log, err := os.Create(filepath.Join(n.dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	n.cmd = exec.Command(n.file, "-p", n.dir, "-c", filepath.Join(n.dir, "nginx.conf"), "-e", filepath.Join(n.dir, "error.log"))
	n.cmd.Stdout, n.cmd.Stderr = log, log
	dieWithParent(n.cmd)
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// It listens before it is ready for signals; its worker answers after that.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	eventually(t, "nginx answers", func() bool {
		answer, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/", n.status))
		if err != nil {
			return false
		}
		return answer.Body.Close() == nil
	})
}

// stop ends nginx by the process id it has written, as "nginx -s stop" does.
func (n *nginx) stop(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(n.dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid != n.cmd.Process.Pid {
		t.Fatalf("got process id %q, want %d", text, n.cmd.Process.Pid)
	}
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := n.cmd.Wait(); err != nil {
		log, _ := os.ReadFile(filepath.Join(n.dir, "output"))
		t.Fatalf("nginx: %v\n%s", err, log)
	}
}

func (n *nginx) url(path string) string { return fmt.Sprintf("http://127.0.0.1:%d%s", n.plain, path) }

func (n *nginx) tls(path string) string {
	return fmt.Sprintf("https://127.0.0.1:%d%s", n.secure, path)
}

// counters are nginx's own, which include the question for them.
type counters struct{ accepted, handled, requests int64 }

var stubStatus = regexp.MustCompile(`requests\s+(\d+) (\d+) (\d+)`)

// counters asks nginx on a connection of its own.
func (n *nginx) counters(t *testing.T) counters {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	answer, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/", n.status))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	m := stubStatus.FindSubmatch(text)
	if m == nil {
		t.Fatalf("got %q from stub_status", text)
	}
	var c [3]int64
	for i := range c {
		if c[i], err = strconv.ParseInt(string(m[i+1]), 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return counters{c[0], c[1], c[2]}
}

// since is what nginx has counted besides the two questions.
func (c counters) since(before counters) counters {
	return counters{c.accepted - before.accepted - 1, c.handled - before.handled - 1, c.requests - before.requests - 1}
}

// freePorts reserves ports for a moment and gives them away.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// certificate makes a self-signed one with its key, as PEM.
func certificate(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	return append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
}

func portOf(port int) string { return ":" + strconv.Itoa(port) }

// answerSize is the length of an answer on the wire, head and body.
func (n *nginx) answerSize(t *testing.T) float64 {
	t.Helper()
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(n.url(""), "http://"), patience)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	both, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	second := strings.LastIndex(string(both), "HTTP/1.1 ")
	return float64(second)
}
