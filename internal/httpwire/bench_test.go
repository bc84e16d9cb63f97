package httpwire_test

import (
	"strings"
	"testing"

	"prony/internal/httpwire"
)

// benchmark parses in, which holds a number of responses, over and over.
func benchmark(b *testing.B, in string, responses int) {
	b.Helper()
	p := httpwire.NewParser(httpwire.Limits{})
	var s httpwire.State
	data := []byte(in)
	b.SetBytes(int64(len(in) / responses))
	b.ReportAllocs()
	for i := 0; i < b.N; i += responses {
		for rest := data; len(rest) > 0; {
			p.Begin(&s, httpwire.MethodOther)
			n, done, err := p.Parse(&s, rest)
			if !done || err != nil {
				b.Fatal(done, err)
			}
			rest = rest[n:]
		}
	}
}

// BenchmarkMemo is a response of 180 bytes whose head was the one before.
func BenchmarkMemo(b *testing.B) { benchmark(b, sample, 1) }

// BenchmarkNoMemo is the same with a head that differs each time.
func BenchmarkNoMemo(b *testing.B) {
	benchmark(b, sample+strings.Replace(sample, "10:00:00", "10:00:01", 1), 2)
}

// BenchmarkPipelined is one of 16 responses in one read.
func BenchmarkPipelined(b *testing.B) { benchmark(b, strings.Repeat(sample, 16), 16) }

// BenchmarkChunked is a response of two chunks and a trailer.
func BenchmarkChunked(b *testing.B) { benchmark(b, chunkedSample, 1) }
