package result

import (
	"encoding/json"
	"fmt"

	"prony/internal/hdr"
)

// Packed is a histogram at rest: its summary, and the histogram encoded. A run
// holds thousands of them, one per second and kind, and reads few back.
type Packed struct {
	summary
	v2 []byte
}

// Pack encodes h.
func Pack(h *hdr.Histogram) Packed {
	if h == nil || h.Count() == 0 {
		return Packed{}
	}
	return Packed{summary: summarise(h), v2: h.AppendV2(nil)}
}

// Count is the number of values.
func (p Packed) Count() int64 { return p.summary.Count }

// P50, P99 and Max are in microseconds.
func (p Packed) P50() float64 { return p.summary.P50 }

// P99 is the 99th percentile in microseconds.
func (p Packed) P99() float64 { return p.summary.P99 }

// Max is the largest value in microseconds.
func (p Packed) Max() float64 { return p.summary.Max }

// Unpack decodes the histogram; nil if it is empty. It fails on bytes that were
// damaged at rest.
func (p Packed) Unpack() (*hdr.Histogram, error) {
	if p.Count() == 0 {
		return nil, nil
	}
	h, err := hdr.DecodeV2(p.v2)
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	return h, nil
}

// MarshalJSON writes the summary and the encoded histogram.
func (p Packed) MarshalJSON() ([]byte, error) {
	s := p.summary
	if p.Count() > 0 {
		h, err := p.Unpack()
		if err != nil {
			return nil, err
		}
		s.Encode = h.Base64()
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Packed) UnmarshalJSON(b []byte) error {
	var s summary
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*p = Packed{summary: s}
	p.Encode = ""
	if s.Encode == "" {
		return nil
	}
	h, err := hdr.DecodeBase64(s.Encode)
	if err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	p.v2 = h.AppendV2(nil)
	return nil
}
