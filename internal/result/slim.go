package result

// Slim is the trial for tables and rules over many trials: without its seconds,
// and with its histograms packed. The whole of it is in its bundle.
func (t Trial) Slim() Trial {
	t.Load = t.Load.slim()
	also := make([]Load, len(t.Also))
	for i, l := range t.Also {
		also[i] = l.slim()
	}
	if t.Also != nil {
		t.Also = also
	}
	return t
}

func (l Load) slim() Load {
	l.Intervals, l.Records, l.Samples, l.PerThread, l.Output = nil, nil, nil, nil, ""
	for _, h := range []Histogram{l.Latency.Response, l.Latency.Service, l.Latency.Lag, l.Latency.Dispatch, l.Latency.FirstByte,
		l.Latency.Failed, l.Connections.ConnectTime, l.Connections.TLSTime} {
		if h.Histogram != nil {
			h.Pack()
		}
	}
	return l
}
