package testserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"time"
)

// Authority is a certificate authority that lives in memory, for tests of TLS.
// Certificates are valid for an hour from their making and start an hour
// earlier, so that clocks may differ a little.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Issue says what a certificate is for.
type Issue struct {
	// Hosts are the names and IP addresses it is valid for.
	Hosts []string
	// Expired makes it end an hour ago.
	Expired bool
	// Client makes it a client's certificate instead of a server's.
	Client bool
}

// NewAuthority makes an authority. It panics where only a mistake in this
// package could make it fail.
func NewAuthority() *Authority {
	template := &x509.Certificate{
		SerialNumber:          serial(),
		Subject:               pkix.Name{CommonName: "prony test authority"},
		NotBefore:             time.Now().Add(-24 * time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	a := &Authority{key: newKey()}
	a.cert = sign(template, template, &a.key.PublicKey, a.key)
	return a
}

// Pool returns a pool that trusts the authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// Certificate issues a certificate with a new key. It panics if a host cannot
// stand in a certificate.
func (a *Authority) Certificate(i Issue) tls.Certificate {
	from := time.Now().Add(-time.Hour)
	template := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{CommonName: "prony test certificate"},
		NotBefore:    from,
		NotAfter:     from.Add(2 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if i.Expired {
		template.NotBefore, template.NotAfter = from.Add(-time.Hour), from
	}
	if i.Client {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	for _, h := range i.Hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	key := newKey()
	leaf := sign(template, a.cert, &key.PublicKey, a.key)
	return tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
}

// SelfSigned returns a server's configuration with a certificate valid for
// hosts (by default localhost, 127.0.0.1 and ::1), and the pool a client needs
// to trust it. The only protocol offered is http/1.1.
func SelfSigned(hosts ...string) (*tls.Config, *x509.CertPool) {
	return serverTLS(Issue{Hosts: hosts})
}

// Expired is SelfSigned with a certificate that ended an hour ago.
func Expired(hosts ...string) (*tls.Config, *x509.CertPool) {
	return serverTLS(Issue{Hosts: hosts, Expired: true})
}

// WrongHost is SelfSigned with a certificate that is valid for wrong.invalid
// only.
func WrongHost() (*tls.Config, *x509.CertPool) {
	return serverTLS(Issue{Hosts: []string{"wrong.invalid"}})
}

// RequireClient makes a server demand a client certificate that clients trusts,
// and returns c.
func RequireClient(c *tls.Config, clients *x509.CertPool) *tls.Config {
	c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, clients
	return c
}

func serverTLS(i Issue) (*tls.Config, *x509.CertPool) {
	if len(i.Hosts) == 0 {
		i.Hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	a := NewAuthority()
	return &tls.Config{
		Certificates: []tls.Certificate{a.Certificate(i)},
		NextProtos:   []string{"http/1.1"},
		MinVersion:   tls.VersionTLS12,
	}, a.Pool()
}

func serial() *big.Int {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the program would end
	b[0] &= 0x7f
	return new(big.Int).SetBytes(b[:])
}

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic("test server: make a key: " + err.Error())
	}
	return key
}

func sign(template, parent *x509.Certificate, key *ecdsa.PublicKey, by *ecdsa.PrivateKey) *x509.Certificate {
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key, by)
	if err != nil {
		panic("test server: sign a certificate: " + err.Error())
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		panic("test server: read back a certificate: " + err.Error())
	}
	return cert
}
