package ab

import (
	"fmt"
	"strings"
)

// suite is a cipher suite with its two names and the size of its key.
type suite struct {
	iana    string
	openssl string
	bits    int
}

// suites are the ones of TLS 1.2 that crypto/tls has. Names: the IANA registry
// and the cipher list of OpenSSL; bits: as OpenSSL reports a key's strength.
func suites() []suite {
	return []suite{
		{"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384", 256},
		{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384", 256},
		{"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305", 256},
		{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305", 256},
		{"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256", 128},
		{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", 128},
		{"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256", 128},
		{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256", 128},
		{"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA", 256},
		{"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA", 256},
		{"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA", 128},
		{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA", 128},
		{"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", "ECDHE-RSA-DES-CBC3-SHA", 112},
		{"TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", "ECDHE-ECDSA-RC4-SHA", 128},
		{"TLS_ECDHE_RSA_WITH_RC4_128_SHA", "ECDHE-RSA-RC4-SHA", 128},
		{"TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384", 256},
		{"TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256", 128},
		{"TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256", 128},
		{"TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA", 256},
		{"TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA", 128},
		{"TLS_RSA_WITH_3DES_EDE_CBC_SHA", "DES-CBC3-SHA", 112},
		{"TLS_RSA_WITH_RC4_128_SHA", "RC4-SHA", 128},
		// TLS 1.3 (RFC 8446 appendix B.4); both registries use one name.
		{"TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384", 256},
		{"TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256", 256},
		{"TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256", 128},
	}
}

// cipherSuites turns the names of -Z, separated as OpenSSL separates them,
// into IANA names. Expressions such as HIGH or !aNULL name sets that only
// OpenSSL knows, and the suites of TLS 1.3 cannot be chosen: both are errors.
func cipherSuites(list string) ([]string, error) {
	var names []string
	for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ':' || r == ',' || r == ' ' }) {
		s, ok := findSuite(name)
		if !ok {
			return nil, fmt.Errorf("no cipher match: %q (name single suites, for example ECDHE-RSA-AES128-GCM-SHA256)", name)
		}
		if s.iana == s.openssl {
			return nil, fmt.Errorf("the suites of TLS 1.3 cannot be chosen: %q", name)
		}
		names = append(names, s.iana)
	}
	if list != "" && names == nil {
		return nil, fmt.Errorf("no cipher match: empty list")
	}
	return names, nil
}

// findSuite looks a suite up by either name.
func findSuite(name string) (suite, bool) {
	for _, s := range suites() {
		if s.iana == name || s.openssl == name {
			return s, true
		}
	}
	return suite{}, false
}

// protocolLine is "TLSv1.2,ECDHE-RSA-AES256-GCM-SHA384,2048,256": version,
// OpenSSL's name of the suite, bits of the server's key, bits of the cipher.
func protocolLine(version, cipher string, keyBits int) string {
	s, ok := findSuite(cipher)
	if !ok {
		s.openssl = cipher
	}
	digits := strings.TrimLeft(version, "TLSv ")
	return fmt.Sprintf("TLSv%s,%s,%d,%d", digits, s.openssl, keyBits, s.bits)
}

// tempKey names the curve of the key exchange as OpenSSL 3 does; "" for none.
func tempKey(curve string) string {
	switch strings.TrimPrefix(curve, "Curve") {
	case "":
		return ""
	case "X25519", "x25519":
		return "X25519 253 bits"
	case "P256", "P-256":
		return "ECDH prime256v1 256 bits"
	case "P384", "P-384":
		return "ECDH secp384r1 384 bits"
	case "P521", "P-521":
		return "ECDH secp521r1 521 bits"
	}
	return curve
}
