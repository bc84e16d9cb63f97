package result

// FailureKind is one of a closed set of ways in which a request or a
// connection can fail. Free text never becomes a kind.
type FailureKind uint8

const (
	NoFailure FailureKind = iota
	DNSFailed
	ConnectRefused
	ConnectTimeout
	ConnectReset
	ConnectUnreachable
	ConnectFailed
	NoPorts   // EADDRNOTAVAIL: no local port left
	FileLimit // EMFILE, ENFILE
	TLSCertificate
	TLSHandshake
	TLSTimeout
	RequestTimeout
	Reset
	ClosedEarly // the peer closed before the first byte of the answer
	Truncated   // the peer closed inside the answer
	WriteFailed
	BadResponse
	HeaderTooLarge
	BodyTooLarge
	HTTPStatus // 4xx and 5xx
	BodyDiffers
	ScriptFailed
	Other
	FailureKinds // how many there are
)

var failureNames = [FailureKinds]string{
	NoFailure: "none", DNSFailed: "dns", ConnectRefused: "connect-refused", ConnectTimeout: "connect-timeout",
	ConnectReset: "connect-reset", ConnectUnreachable: "connect-unreachable", ConnectFailed: "connect-failed",
	NoPorts: "no-ports", FileLimit: "file-limit", TLSCertificate: "tls-certificate", TLSHandshake: "tls-handshake",
	TLSTimeout: "tls-timeout", RequestTimeout: "timeout", Reset: "reset", ClosedEarly: "closed-early",
	Truncated: "truncated", WriteFailed: "write-failed", BadResponse: "bad-response",
	HeaderTooLarge: "header-too-large", BodyTooLarge: "body-too-large", HTTPStatus: "http-status",
	BodyDiffers: "body-differs", ScriptFailed: "script", Other: "other",
}

// String returns the kind's name in JSON and reports.
func (k FailureKind) String() string {
	if k >= FailureKinds {
		return "other"
	}
	return failureNames[k]
}

// Connecting reports whether the kind means that no connection came about.
func (k FailureKind) Connecting() bool { return k >= DNSFailed && k <= TLSTimeout }

// Failure is the count of one kind in one phase with one errno, with the first
// example seen.
type Failure struct {
	Kind    string `json:"kind"`
	Phase   string `json:"phase"` // "dns", "connect", "tls", "write", "wait", "header", "body"
	Errno   string `json:"errno,omitempty"`
	Count   int64  `json:"count"`
	Example string `json:"example"`
}
