package monitor

import (
	"bytes"
	"errors"
	"strconv"

	"prony/internal/result"
)

var errStub = errors.New("not the text of stub_status")

// readStub reads what nginx's stub_status says (ngx_http_stub_status_module):
//
//	Active connections: 2
//	server accepts handled requests
//	 16 16 31
//	Reading: 0 Writing: 1 Waiting: 1
//
// Our own question is in it: one request each time, and a connection that is
// being written to. Both are taken out.
func readStub(m *meter, body []byte) error {
	words := bytes.Fields(body)
	at := []int{2, 7, 8, 9, 11, 13, 15}
	if len(words) < 16 || string(words[0]) != "Active" || string(words[10]) != "Reading:" {
		return errStub
	}
	n := make([]int64, len(at))
	for i, k := range at {
		x, err := strconv.ParseInt(string(words[k]), 10, 64)
		if err != nil || x < 0 {
			return errStub
		}
		n[i] = x
	}
	m.gauge(result.ServerActive, float64(max(0, n[0]-1)))
	m.count(result.ServerAccepts, n[1], 1)
	m.count(result.ServerHandled, n[2], 1)
	if d, ok := m.grown(result.ServerRequests, n[3]); ok {
		m.rate(result.ServerRequests, float64(max(0, d-1)))
	}
	m.gauge(result.ServerReading, float64(n[4]))
	m.gauge(result.ServerWriting, float64(max(0, n[5]-1)))
	m.gauge(result.ServerWaiting, float64(n[6]))
	return nil
}
