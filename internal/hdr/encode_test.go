package hdr_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"prony/internal/hdr"
)

const (
	kat11Hex    = "1c849313000000120000000000000003000000000000000100000000d693a4003ff0000000000000000204c10106b51e8001c12302fb6a80897a"
	kat11Base64 = "HISTFAAAADZ42pJpmSzMwMAgxAABzFCaEURcm7yEwf4DVISJ5SAj21a5BsaDyky/sxo6qwABAAD//9FuCok="
)

// kat11 is the histogram of the known encoding.
func kat11() *hdr.Histogram {
	h := hdr.MustNew(micros())
	for _, cell := range [][2]int64{{1, 1}, {2, 2}, {100, 3}, {2048, 64}, {10_000, 1}, {1_000_000, 1_000_000}} {
		h.RecordN(cell[0], cell[1])
	}
	return h
}

// sameCells compares shape and counters and ignores the exact totals, which
// no encoding carries.
func sameCells(t *testing.T, got, want *hdr.Histogram) {
	t.Helper()
	if got.Config() != want.Config() || !bytes.Equal(got.AppendV2(nil), want.AppendV2(nil)) {
		t.Errorf("got %+v %x,\nwant %+v %x", got.Config(), got.AppendV2(nil), want.Config(), want.AppendV2(nil))
	}
	if got.Count() != want.Count() {
		t.Errorf("count: got %d, want %d", got.Count(), want.Count())
	}
}

func TestKAT11Encoding(t *testing.T) {
	h := kat11()
	if got := hex.EncodeToString(h.AppendV2(nil)); got != kat11Hex {
		t.Errorf("got  %s\nwant %s", got, kat11Hex)
	}
	plain, err := hex.DecodeString(kat11Hex)
	if err != nil {
		t.Fatal(err)
	}
	fromPlain, err := hdr.DecodeV2(plain)
	if err != nil {
		t.Fatal(err)
	}
	fromText, err := hdr.DecodeBase64(kat11Base64)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []*hdr.Histogram{fromPlain, fromText} {
		sameCells(t, got, h)
		if got.Count() != 1_000_071 {
			t.Errorf("count: got %d, want 1000071", got.Count())
		}
		if got, want := got.Values([]hdr.Quantile{0, hdr.P50, hdr.P100}), []int64{1, 1_000_447, 1_000_447}; !slices.Equal(got, want) {
			t.Errorf("quantiles: got %v, want %v", got, want)
		}
	}
}

func TestEncodingRoundTrip(t *testing.T) {
	big := hdr.MustNew(hdr.Config{})
	big.RecordN(5, math.MaxInt64-1)
	big.RecordN(1<<40, 1)
	for _, tt := range []struct {
		name string
		h    *hdr.Histogram
	}{
		{"empty", hdr.MustNew(hdr.Config{})},
		{"zero", of(hdr.Config{}, 0)},
		{"one zero between", of(hdr.Config{}, 0, 2)},
		{"the top cell", of(micros(), 3_600_000_000)},
		{"overflow", of(micros(), 1, 1<<62)},
		{"full range", of(hdr.Config{Highest: math.MaxInt64, Digits: 1}, 0, 1<<62, math.MaxInt64)},
		{"coarse unit", of(hdr.Config{Lowest: 1000, Digits: 2}, 0, 999, 1024, 1<<40)},
		{"many values", of(hdr.Config{}, values()...)},
		{"five digits", of(hdr.Config{Digits: 5}, values()...)},
		{"large counts", big},
	} {
		t.Run(tt.name, func(t *testing.T) {
			prefix := []byte("kept")
			plain := tt.h.AppendV2(prefix)
			compressed := tt.h.AppendCompressed(prefix)
			for _, b := range [][]byte{plain, compressed} {
				if !bytes.HasPrefix(b, prefix) {
					t.Fatalf("the prefix is lost: %q", b)
				}
				got, err := hdr.DecodeV2(b[len(prefix):])
				if err != nil {
					t.Fatal(err)
				}
				sameCells(t, got, tt.h)
			}
			got, err := hdr.DecodeBase64(tt.h.Base64())
			if err != nil {
				t.Fatal(err)
			}
			sameCells(t, got, tt.h)
		})
	}
}

// Other libraries keep values above Highest where their array allows; here
// they must arrive in the top cell as overflow and stay reachable.
func TestDecodeFoldsForeignOverflow(t *testing.T) {
	wide := hdr.MustNew(hdr.Config{Lowest: 1, Highest: 4_000_000_000, Digits: 3})
	wide.RecordN(5, 10)
	wide.RecordN(3_900_000_000, 2)
	wide.RecordN(3_950_000_000, 3)
	b := wide.AppendV2(nil)
	binary.BigEndian.PutUint64(b[24:], 3_600_000_000) // same array, lower limit
	h, err := hdr.DecodeV2(b)
	if err != nil {
		t.Fatal(err)
	}
	if h.Count() != 15 || h.Overflow() != 5 {
		t.Errorf("got count %d and overflow %d, want 15 and 5", h.Count(), h.Overflow())
	}
	want := []int64{5, 3_600_809_983, 3_951_034_367}
	if got := h.Values([]hdr.Quantile{hdr.P50, hdr.P90, hdr.P100}); !slices.Equal(got, want) {
		t.Errorf("quantiles: got %v, want %v", got, want)
	}
	h.Reset()
	if !h.Equal(hdr.MustNew(micros())) {
		t.Error("reset left something behind")
	}
}

// patched returns the known encoding with a header field of 4 or 8 bytes
// replaced.
func patched(t *testing.T, at int, field ...byte) []byte {
	t.Helper()
	b, err := hex.DecodeString(kat11Hex)
	if err != nil {
		t.Fatal(err)
	}
	copy(b[at:], field)
	return b
}

// deflated wraps b in a compressed header.
func deflated(t *testing.T, b []byte) []byte {
	t.Helper()
	var stream bytes.Buffer
	z := zlib.NewWriter(&stream)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	out := binary.BigEndian.AppendUint32(nil, 0x1c849314)
	out = binary.BigEndian.AppendUint32(out, uint32(stream.Len()))
	return append(out, stream.Bytes()...)
}

// withPayload returns an encoding of the shape of the known answer with
// another payload.
func withPayload(t *testing.T, payload ...byte) []byte {
	t.Helper()
	b := append(patched(t, 0)[:40], payload...)
	binary.BigEndian.PutUint32(b[4:], uint32(len(payload)))
	return b
}

func TestDecodeErrors(t *testing.T) {
	good := kat11().AppendV2(nil)
	compressed := kat11().AppendCompressed(nil)
	broken := slices.Clone(compressed)
	broken[len(broken)-1] ^= 1
	maxCount := "\xfe\xff\xff\xff\xff\xff\xff\xff\xff"
	for _, tt := range []struct {
		name, want string
		b          []byte
	}{
		{"empty", "0 bytes are too few", nil},
		{"cookie", "cookie 0x00849313 is not that of a V2 histogram", patched(t, 0, 0)},
		{"V1 cookie", "cookie 0x1c849301 is not that of a V2 histogram", patched(t, 3, 1)},
		{"short header", "header: unexpected EOF", good[:39]},
		{"scaled values", "scaled by 2", patched(t, 32, 0x40, 0)},
		{"no digits", "0 significant digits", patched(t, 15, 0)},
		{"negative highest", "highest value -", patched(t, 24, 0xff)},
		{"huge shape", "are more than the limit", patched(t, 15, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f)},
		{"announced too much", "4294967295 bytes announced, the shape allows 211968", patched(t, 4, 255, 255, 255, 255)},
		{"cut short", "18 bytes announced, 17 or more follow", good[:len(good)-1]},
		{"trailing byte", "18 bytes announced, 19 or more follow", append(slices.Clone(good), 0)},
		{"within a number", "ends within a number", withPayload(t, 2, 0x80)},
		{"too many zeros", "more counters than the 23552", withPayload(t, 0xff, 0xff, 0xff, 0x7f)},
		{"smallest run", "more counters than", withPayload(t, []byte(strings.Repeat("\xff", 9))...)},
		{"beyond the last counter", "more counters than", withPayload(t, 0xff, 0xef, 0x02, 2)},
		{"counts overflow", "add up to more than 63 bits", withPayload(t, []byte(maxCount+"\x02")...)},
		{"compressed length", "header announces", compressed[:len(compressed)-1]},
		{"checksum", "zlib: invalid checksum", broken},
		{"no zlib", "zlib", append([]byte("\x1c\x84\x93\x14\x00\x00\x00\x02"), 1, 2)},
		{"compressed twice", "is not that of a V2 histogram", deflated(t, append(compressed, make([]byte, 40)...))},
		{"inflates beyond its length", "18 bytes announced, 19 or more follow", deflated(t, append(slices.Clone(good), make([]byte, 1<<20)...))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, err := hdr.DecodeV2(tt.b)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "decode histogram: ") {
				t.Errorf("got %v (%v), want %q", err, h, tt.want)
			}
		})
	}
	if _, err := hdr.DecodeBase64("no base64!"); err == nil || !strings.Contains(err.Error(), "illegal base64") {
		t.Errorf("text: got %v, want an error about base64", err)
	}
}

func TestDecodeTolerance(t *testing.T) {
	for _, tt := range []struct {
		name string
		b    []byte
	}{
		{"normalizing offset", patched(t, 8, 0, 0, 0, 1)},
		{"lowest 0 of old writers", patched(t, 23, 0)},
		{"cookie without word size", patched(t, 3, 0x03)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, err := hdr.DecodeV2(tt.b)
			if err != nil {
				t.Fatal(err)
			}
			sameCells(t, h, kat11())
		})
	}
}

// FuzzDecode: hostile input gives an error or a histogram that works and
// encodes to itself.
func FuzzDecode(f *testing.F) {
	f.Add(kat11().AppendV2(nil))
	f.Add(kat11().AppendCompressed(nil))
	f.Add(of(micros(), 3_600_000_000, 1<<40).AppendV2(nil))
	f.Add(hdr.MustNew(hdr.Config{}).AppendV2(nil))
	if b, err := base64.StdEncoding.DecodeString(kat11Base64); err == nil {
		f.Add(b)
	}
	qs := []hdr.Quantile{0, hdr.P50, hdr.P99, hdr.P100}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := hdr.DecodeV2(b)
		if err != nil {
			return
		}
		if values := h.Values(qs); !slices.IsSorted(values) || values[3] != h.Max() {
			t.Errorf("quantiles: got %v, maximum %d", values, h.Max())
		}
		if s := h.StdDev(); math.IsNaN(s) || s < 0 {
			t.Errorf("deviation: got %v", s)
		}
		again, err := hdr.DecodeV2(h.AppendV2(nil))
		if err != nil {
			t.Fatal(err)
		}
		sameCells(t, again, h)
		if err := again.Restore(h.Summary()); err != nil {
			t.Errorf("restore own summary: %v", err)
		}
		again.Reset()
		if again.Count() != 0 || again.Value(hdr.P50) != 0 {
			t.Errorf("after reset: got %+v", again.Summary())
		}
	})
}
