package result

// Curve is how the throughput of an experiment grows along one axis of numbers,
// with the other axes held.
type Curve struct {
	Axis string `json:"axis"`
	// Group are the values of the other axes, "" if there are none.
	Group  string       `json:"group,omitempty"`
	Points []CurvePoint `json:"points"` // by value
	// Fit is the universal scalability law through the points; nil with too few.
	Fit *CurveFit `json:"fit,omitempty"`
	// Knee is about where more brings little, for an axis of connections; 0 is
	// not known.
	Knee float64 `json:"knee,omitempty"`
}

// CurvePoint is one value of the axis over the usable trials.
type CurvePoint struct {
	Value float64 `json:"value"`
	Rate  float64 `json:"rate"` // median
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Runs  int     `json:"runs"`
	// Efficiency is the rate per unit of the axis, relative to that at the
	// smallest value.
	Efficiency float64 `json:"efficiency"`
}

// CurveFit is X(N) = γN/(1+α(N-1)+βN(N-1)) (Gunther, 2007).
type CurveFit struct {
	Gamma float64 `json:"gamma"`
	Alpha float64 `json:"alpha"`
	Beta  float64 `json:"beta"`
	// PeakAt is the value of the highest throughput; 0 is none within evidence.
	PeakAt float64 `json:"peak_at,omitempty"`
	// Unproven says why nothing must be predicted from it; "" if it may.
	Unproven string `json:"unproven,omitempty"`
}
