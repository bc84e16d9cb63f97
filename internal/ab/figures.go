package ab

import (
	"math"
	"net/http"
	"strconv"
	"strings"

	"prony/internal/result"
)

// maxServerName is the room ab has for the Server header.
const maxServerName = 1023

// figures is everything a report prints, computed and in the units printed:
// what is left to do is layout.
type figures struct {
	server, host string
	port         int
	tlsProtocol  string
	tempKey      string
	serverName   string
	path         string
	variable     bool
	docLength    int64
	concurrency  int
	seconds      float64
	complete     int64
	failed       int64
	failures
	non2xx      int64
	keepAlive   bool
	keptAlive   int64
	bytesIn     int64
	sendBody    bool
	bytesOut    int64
	bodyBytes   int64
	times       times
	percentiles []int64 // ms, one for each of percents
}

// measure computes the figures of a run.
func measure(r *result.Run, o Options) figures {
	l := &r.Load
	f := figures{
		host: o.Host, port: o.Port, path: o.Path, variable: o.VariableLength,
		concurrency: o.Concurrency, seconds: elapsedUS(l) / 1e6,
		non2xx: non2xx(l.Statuses), keepAlive: o.KeepAlive,
		bytesIn: l.BytesIn, sendBody: o.HasBody, bytesOut: l.BytesOut, bodyBytes: l.BodyBytes,
		failures: countFailures(l.Failures),
	}
	f.complete = complete(l, o, f.failures)
	f.keptAlive = keptAlive(l, f.complete)
	f.docLength = docLength(l, o, f.failures)
	if sample, ok := firstSample(l); ok {
		f.server = serverSoftware(sample.Head)
	}
	if o.TLS && l.TLS != nil {
		f.tlsProtocol = protocolLine(l.TLS.Version, l.TLS.Cipher, l.TLS.KeyBits)
		f.tempKey, f.serverName = tempKey(l.TLS.Curve), o.serverName()
	}
	kind := answered
	if o.Quirks {
		kind, f.failures = completeToAB, f.asAB(o.VariableLength)
	}
	f.failed = f.total()
	f.takeTimes(l.Records, kind, o.Quirks)
	return f
}

// takeTimes computes the tables of times.
func (f *figures) takeTimes(records []result.Record, kind func(result.FailureKind) bool, quirks bool) {
	f.times = takeTimes(records, kind, quirks)
	if f.times.n == 0 {
		return
	}
	for _, p := range percents() {
		f.percentiles = append(f.percentiles, f.times.percentileMS(p))
	}
}

// perSecond divides by the time taken; ab prints no rate when that is 0.
func (f figures) perSecond(n float64) float64 { return n / f.seconds }

// firstSample is the head that stands for the first answer: a good one if
// there is one.
func firstSample(l *result.Load) (result.Sample, bool) {
	for _, s := range l.Samples {
		if s.Status/100 == 2 {
			return s, true
		}
	}
	if len(l.Samples) == 0 {
		return result.Sample{}, false
	}
	return l.Samples[0], true
}

// headerOf finds a header in a response head; names have no case (PR 59111).
func headerOf(head, name string) (string, bool) {
	for line := range strings.SplitSeq(head, "\n") {
		n, value, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(n, name) {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// serverSoftware is the Server header up to its first blank, as ab cuts it.
func serverSoftware(head string) string {
	value, _ := headerOf(head, "Server")
	for i, c := range []byte(value) {
		if c <= ' ' || c == 0x7f || i >= maxServerName {
			return value[:i]
		}
	}
	return value
}

// docLength is the length of the first body. If every answer had the same, it
// is their mean; else what the first head announced; else the mean, rounded.
func docLength(l *result.Load, o Options, f failures) int64 {
	if o.Method == http.MethodHead {
		return 0
	}
	n := answers(l)
	clean := f.length == 0 && f.receive == 0 && l.Requests.CutOff == 0
	if n > 0 && clean && l.BodyBytes%n == 0 {
		return l.BodyBytes / n
	}
	if s, ok := firstSample(l); ok {
		if text, ok := headerOf(s.Head, "Content-Length"); ok {
			if v, err := strconv.ParseInt(text, 10, 64); err == nil && v >= 0 {
				return v
			}
		}
	}
	if n == 0 {
		return 0
	}
	return int64(math.Round(float64(l.BodyBytes) / float64(n)))
}
