package result

// Capacity is the highest rate at which all goals held, and how it was found.
type Capacity struct {
	// End says how the search ended: "found", "at most", "below minimum",
	// "generator-limited", "unconfirmed", "no throughput".
	End string `json:"end"`
	// Rate was confirmed, requests per second; 0 if none was. Held is the highest
	// that passed, Refused the lowest that did not, Limit where the generator was
	// the limit; 0 is none.
	Rate    float64 `json:"rate"`
	Held    float64 `json:"held"`
	Refused float64 `json:"refused"`
	Limit   float64 `json:"limit,omitempty"`
	// Inverted: a higher rate passed while a lower one did not; the lower counts.
	Inverted bool            `json:"inverted,omitempty"`
	Trials   []CapacityTrial `json:"trials"`
}

// CapacityTrial is one load of the search.
type CapacityTrial struct {
	Phase      string  `json:"phase"` // "probe", "bracket", "bisect", "confirm"
	Rate       float64 `json:"rate"`  // planned; 0 for the closed probe
	Achieved   float64 `json:"achieved"`
	DurationUS float64 `json:"duration_us"`
	P50US      float64 `json:"p50_us"`
	P99US      float64 `json:"p99_us"`
	Passed     bool    `json:"passed"`
	Reason     string  `json:"reason,omitempty"`  // why it did not
	Invalid    string  `json:"invalid,omitempty"` // why it says nothing
}
