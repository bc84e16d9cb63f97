package main

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"prony/internal/testserver"
)

// nginxConfig is one worker that logs nothing and closes no connection by
// itself. The body is 33 bytes, as the responder's. Over TLS it takes
// AES-128-GCM alone, because clients would else agree on different ciphers.
const nginxConfig = `worker_processes 1;
worker_rlimit_nofile %[1]d;
error_log %[2]s/error.log crit;
pid %[2]s/nginx.pid;
events { worker_connections %[3]d; }
http {
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 300s;
  default_type text/plain;
  client_body_temp_path %[2]s/t1; proxy_temp_path %[2]s/t2; fastcgi_temp_path %[2]s/t3;
  uwsgi_temp_path %[2]s/t4; scgi_temp_path %[2]s/t5;
  server { listen %[4]s backlog=16384; location / { return 200 "%[6]s"; } }
  server {
    listen %[5]s ssl backlog=16384;
    ssl_certificate %[2]s/cert.pem;
    ssl_certificate_key %[2]s/key.pem;
    ssl_protocols TLSv1.3;
    ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
    location / { return 200 "%[6]s"; }
  }
}
`

const bodyText = "thirty-three bytes of plain text\\n"

// nginx starts nginx with one worker.
func (b *bench) nginx(ctx context.Context) (*server, error) {
	plain, err1 := freePort()
	secure, err2 := freePort()
	dir := filepath.Join(b.dir, "nginx")
	if err := errors.Join(err1, err2, os.MkdirAll(dir, 0o755), certificate(dir)); err != nil {
		return nil, fmt.Errorf("set up nginx: %w", err)
	}
	files := b.files
	text := fmt.Sprintf(nginxConfig, files, dir, max(512, files-100), plain, secure, bodyText)
	config := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return nil, fmt.Errorf("set up nginx: %w", err)
	}
	s, err := b.launch("nginx, one worker", false, []string{b.tools.path("nginx"), "-p", dir, "-c", config, "-g", "daemon off;"})
	if err != nil {
		return nil, err
	}
	s.url, s.tlsURL = "http://"+plain+"/", "https://"+secure+"/"
	if err := answers(ctx, plain); err != nil {
		s.close()
		return nil, fmt.Errorf("start nginx: it said %q: %w", strings.TrimSpace(s.log.String()), err)
	}
	return s, nil
}

// certificate writes an ECDSA P-256 certificate for loopback.
func certificate(dir string) error {
	cert := testserver.NewAuthority().Certificate(testserver.Issue{Hosts: []string{"127.0.0.1", "localhost"}})
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		return fmt.Errorf("encode key: %w", err)
	}
	var chain []byte
	for _, der := range cert.Certificate {
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return errors.Join(os.WriteFile(filepath.Join(dir, "cert.pem"), chain, 0o644),
		os.WriteFile(filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
}
