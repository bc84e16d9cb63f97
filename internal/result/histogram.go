package result

import (
	"encoding/json"
	"fmt"
	"math"

	"prony/internal/hdr"
)

// Histogram is a distribution of durations in nanoseconds. In JSON it is its
// summary in microseconds together with the histogram itself (HdrHistogram V2,
// compressed, base64), from which it is read back.
type Histogram struct{ *hdr.Histogram }

// summary is the JSON form of a Histogram; the names are part of the contract.
type summary struct {
	Count  int64   `json:"count"`
	Min    float64 `json:"min_us"`
	Mean   float64 `json:"mean_us"`
	StDev  float64 `json:"stdev_us"`
	P50    float64 `json:"p50_us"`
	P75    float64 `json:"p75_us"`
	P90    float64 `json:"p90_us"`
	P95    float64 `json:"p95_us"`
	P99    float64 `json:"p99_us"`
	P999   float64 `json:"p99_9_us"`
	P9999  float64 `json:"p99_99_us"`
	Max    float64 `json:"max_us"`
	Over   int64   `json:"overflow,omitempty"`
	Encode string  `json:"hdr,omitempty"`
	// Exact restores what the cells alone would only estimate.
	Exact *hdr.Summary `json:"exact,omitempty"`
}

// Empty reports whether nothing was recorded.
func (h Histogram) Empty() bool { return h.Histogram == nil || h.Count() == 0 }

// MarshalJSON writes the summary and the encoded histogram.
func (h Histogram) MarshalJSON() ([]byte, error) {
	if h.Empty() {
		return json.Marshal(summary{})
	}
	s := summarise(h.Histogram)
	s.Encode = h.Base64()
	exact := h.Summary()
	s.Exact = &exact
	return json.Marshal(s)
}

func summarise(h *hdr.Histogram) summary {
	v := h.Values([]hdr.Quantile{hdr.P50, hdr.P75, hdr.P90, hdr.P95, hdr.P99, hdr.P999, hdr.P9999})
	return summary{
		Count: h.Count(), Min: us(float64(h.Min())), Mean: us(h.Mean()), StDev: us(h.StdDev()),
		P50: us(float64(v[0])), P75: us(float64(v[1])), P90: us(float64(v[2])), P95: us(float64(v[3])),
		P99: us(float64(v[4])), P999: us(float64(v[5])), P9999: us(float64(v[6])), Max: us(float64(h.Max())),
		Over: h.Overflow(),
	}
}

// UnmarshalJSON reads the encoded histogram; the summary is derived from it.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var s summary
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	if s.Encode == "" {
		h.Histogram = nil
		return nil
	}
	d, err := hdr.DecodeBase64(s.Encode)
	if err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	if s.Exact != nil {
		if err := d.Restore(*s.Exact); err != nil {
			return fmt.Errorf("decode histogram: %w", err)
		}
	}
	h.Histogram = d
	return nil
}

// us turns nanoseconds into microseconds with three decimals.
func us(ns float64) float64 { return math.Round(ns) / 1000 }
