package hdr

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"
)

// The V2 format of HdrHistogram (source: HdrHistogram/HdrHistogram,
// AbstractHistogram and ZigZagEncoding), all big-endian:
//
//	int32   cookie
//	int32   payload length
//	int32   normalizing index offset, 0
//	int32   significant digits
//	int64   lowest, int64 highest value
//	float64 conversion ratio, 1
//	payload counts from index 0 to that of the maximum
//
// A positive number in the payload is a count, a negative one a run of that
// many zeros. The compressed form wraps the whole in a cookie, a length and a
// zlib stream.
const (
	cookiePlain      uint32 = 0x1c849303
	cookieCompressed uint32 = 0x1c849304
	cookieWordSize   uint32 = 0x10 // V2 writers set it; readers ignore the nibble
	cookieMask       uint32 = ^uint32(0xf0)

	headerSize           = 40
	compressedHeaderSize = 8
	maxVarintLen         = 9
)

// AppendV2 appends the uncompressed V2 form to b and returns the extended
// slice. The format holds cells only: keep [Histogram.Summary] beside it for
// the exact totals.
func (h *Histogram) AppendV2(b []byte) []byte {
	start := len(b)
	b = binary.BigEndian.AppendUint32(b, cookiePlain|cookieWordSize)
	b = binary.BigEndian.AppendUint32(b, 0) // payload length, filled in below
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(h.config.Digits))
	b = binary.BigEndian.AppendUint64(b, uint64(h.config.Lowest))
	b = binary.BigEndian.AppendUint64(b, uint64(h.config.Highest))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(1))
	b = appendCounts(b, h.cells()[:h.lastIndex()+1])
	binary.BigEndian.PutUint32(b[start+4:], uint32(len(b)-start-headerSize))
	return b
}

// appendCounts appends the payload: counts, and runs of zeros.
func appendCounts(b []byte, counts []int64) []byte {
	for i := 0; i < len(counts); {
		run := 0
		for i+run < len(counts) && counts[i+run] == 0 {
			run++
		}
		if run > 1 {
			b = appendVarint(b, int64(-run))
			i += run
			continue
		}
		b = appendVarint(b, counts[i])
		i++
	}
	return b
}

// appendVarint appends v in ZigZag LEB128, in at most 9 bytes: unlike in
// protobuf, the ninth holds 8 bits.
func appendVarint(b []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	for i := 1; u >= 0x80 && i < maxVarintLen; i++ {
		b = append(b, byte(u)|0x80)
		u >>= 7
	}
	return append(b, byte(u))
}

// AppendCompressed appends the compressed V2 form to b and returns the
// extended slice.
func (h *Histogram) AppendCompressed(b []byte) []byte {
	var stream bytes.Buffer
	z := zlib.NewWriter(&stream)
	// Writing to memory cannot fail.
	_, _ = z.Write(h.AppendV2(nil))
	_ = z.Close()
	b = binary.BigEndian.AppendUint32(b, cookieCompressed|cookieWordSize)
	b = binary.BigEndian.AppendUint32(b, uint32(stream.Len()))
	return append(b, stream.Bytes()...)
}

// Base64 returns the compressed V2 form as text, which is how log files and
// other tools pass histograms around.
func (h *Histogram) Base64() string {
	return base64.StdEncoding.EncodeToString(h.AppendCompressed(nil))
}
