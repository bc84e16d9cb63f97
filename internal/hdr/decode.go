package hdr

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// maxDecodedCounters bounds what a short hostile input can make the decoder
// allocate: 32 MiB. Five digits over one hour of nanoseconds still fit.
const maxDecodedCounters = 1 << 22

// DecodeV2 reads the V2 form, compressed or not. The result has the counts;
// its minimum, maximum and sums are derived from the cells, so that
// [Histogram.Exact] is false unless [Histogram.Restore] follows.
//
// It refuses other versions, trailing bytes, shapes beyond 4 million counters,
// histograms of scaled float64 values, and payloads that do not fit the shape
// they announce. Memory is bounded by the shape, never by an announced length.
func DecodeV2(b []byte) (*Histogram, error) {
	h, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	return h, nil
}

// DecodeBase64 reads the text form of either encoding.
func DecodeBase64(s string) (*Histogram, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	return DecodeV2(b)
}

// decode tells the two forms apart.
func decode(b []byte) (*Histogram, error) {
	if len(b) < compressedHeaderSize {
		return nil, fmt.Errorf("%d bytes are too few for a header", len(b))
	}
	cookie := binary.BigEndian.Uint32(b)
	switch cookie & cookieMask {
	case cookiePlain:
		return decodePlain(bytes.NewReader(b))
	case cookieCompressed:
	default:
		return nil, fmt.Errorf("cookie %#08x is not that of a V2 histogram", cookie)
	}
	length, body := binary.BigEndian.Uint32(b[4:]), b[compressedHeaderSize:]
	if uint64(length) != uint64(len(body)) {
		return nil, fmt.Errorf("header announces %d compressed bytes, %d follow", length, len(body))
	}
	z, err := zlib.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return decodePlain(z)
}

// decodePlain reads the uncompressed form. The header comes first, so that
// nothing is allocated or inflated before its claims are checked.
func decodePlain(r io.Reader) (*Histogram, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	c, err := parseHeader(header[:])
	if err != nil {
		return nil, err
	}
	length := int64(binary.BigEndian.Uint32(header[4:]))
	if limit := int64(newLayout(c).length) * maxVarintLen; length > limit {
		return nil, fmt.Errorf("corrupt payload: %d bytes announced, the shape allows %d", length, limit)
	}
	// One byte more than announced shows trailing data, and reaching the end
	// makes zlib verify its checksum.
	payload, err := io.ReadAll(io.LimitReader(r, length+1))
	if err != nil {
		return nil, fmt.Errorf("payload: %w", err)
	}
	if int64(len(payload)) != length {
		return nil, fmt.Errorf("corrupt payload: %d bytes announced, %d or more follow", length, len(payload))
	}
	return fill(c, payload)
}

// parseHeader checks the header and returns the shape it describes.
//
// The normalizing offset is ignored: it tells how the writer kept its array,
// while the payload is in the order of the values. A lowest value of 0, which
// hdrhistogram-go 1.0.0 wrote, means 1.
func parseHeader(header []byte) (Config, error) {
	cookie := binary.BigEndian.Uint32(header)
	if cookie&cookieMask != cookiePlain {
		return Config{}, fmt.Errorf("cookie %#08x is not that of a V2 histogram", cookie)
	}
	if ratio := math.Float64frombits(binary.BigEndian.Uint64(header[32:])); ratio != 1 {
		return Config{}, fmt.Errorf("values are scaled by %g; only whole values are supported", ratio)
	}
	c := Config{
		Digits:  int(int32(binary.BigEndian.Uint32(header[12:]))),
		Lowest:  max(1, int64(binary.BigEndian.Uint64(header[16:]))),
		Highest: int64(binary.BigEndian.Uint64(header[24:])),
	}
	if err := c.check(); err != nil {
		return Config{}, err
	}
	if n := newLayout(c).length; n > maxDecodedCounters {
		return Config{}, fmt.Errorf("%d counters are more than the limit of %d", n, maxDecodedCounters)
	}
	return c, nil
}

// fill decodes the payload and derives the totals.
func fill(c Config, payload []byte) (*Histogram, error) {
	h, err := New(c)
	if err != nil {
		return nil, err
	}
	for index := 0; len(payload) > 0; {
		v, n := varint(payload)
		if n == 0 {
			return nil, errors.New("corrupt payload: ends within a number")
		}
		payload = payload[n:]
		run, count := int64(1), v
		if v < 0 { // the smallest int64 stays negative and is refused below
			run, count = -v, 0
		}
		if run < 1 || run > int64(len(h.counts)-index) {
			return nil, fmt.Errorf("corrupt payload: more counters than the %d of the shape", len(h.counts))
		}
		if count > math.MaxInt64-h.count {
			return nil, errors.New("corrupt payload: counts add up to more than 63 bits")
		}
		h.restoreCell(index, count)
		index += int(run)
	}
	return h, nil
}

// restoreCell sets the counter at index and keeps the totals as estimates from
// the ends and the middle of the cell. Other writers keep values above Highest
// apart as far as their array goes; here they are overflow.
func (h *Histogram) restoreCell(index int, n int64) {
	if n == 0 {
		return
	}
	cell := h.layout.cell(index)
	if top := h.layout.index(h.config.Highest); index > top {
		h.overflow += n
		index = top
	}
	h.counts[index] += n
	h.count += n
	h.min = min(h.min, cell.Lowest)
	h.max = max(h.max, cell.Highest)
	h.moments.addN(uint64(cell.middle()), uint64(n))
	h.estimated = true
}

// varint reads one number of at most 9 bytes and returns its length, 0 if b
// ends too early.
func varint(b []byte) (v int64, n int) {
	var u uint64
	for i, c := range b {
		if i == maxVarintLen-1 || c < 0x80 {
			u |= uint64(c) << (7 * i)
			return int64(u>>1) ^ -int64(u&1), i + 1
		}
		u |= uint64(c&0x7f) << (7 * i)
	}
	return 0, 0
}
