package topology

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"prony/internal/plan"
)

// Answer is what an instance said to one request before the load.
type Answer struct {
	URL    string `json:"url"`
	Status int    `json:"status"`
	Length int64  `json:"length"`
	Hash   string `json:"sha256"`
}

// upstreams are the addresses of the services that s passes requests on to,
// host:port each.
func (t *Topology) upstreams(s plan.Service) []string {
	var all []string
	for _, name := range s.Upstream {
		for _, base := range t.Addresses[name] {
			if u, err := url.Parse(base); err == nil {
				all = append(all, u.Host)
			}
		}
	}
	return all
}

// bodyMost bounds how much of an answer is compared.
const bodyMost = 16 << 20

// Verify asks every origin of a load once. A status of 400 or above, or no
// answer at all, is an error: such a load would measure nothing.
func Verify(ctx context.Context, l plan.Load) ([]Answer, error) {
	client := &http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	var answers []Answer
	for _, q := range l.Requests {
		if q.Method != "" && q.Method != http.MethodGet {
			continue // it might change something
		}
		a, err := ask(ctx, client, q)
		if err != nil {
			return answers, fmt.Errorf("verify %s: %w", q.URL, err)
		}
		if a.Status >= http.StatusBadRequest {
			return answers, fmt.Errorf("verify %s: status %d", q.URL, a.Status)
		}
		answers = append(answers, a)
	}
	return answers, nil
}

func ask(ctx context.Context, client *http.Client, q plan.Request) (Answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, q.URL, nil)
	if err != nil {
		return Answer{}, err
	}
	for _, h := range q.Headers {
		r.Header.Set(h.Name, h.Value)
	}
	resp, err := client.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(resp.Body, bodyMost))
	if err != nil {
		return Answer{}, err
	}
	return Answer{URL: q.URL, Status: resp.StatusCode, Length: n, Hash: hex.EncodeToString(sum.Sum(nil))}, nil
}

// Differ describes how the answers of several origins differ in status or
// length; empty if they do not. Bodies of equal length may well differ (an
// identifier), and that is not said.
func Differ(answers []Answer) string {
	for _, a := range answers {
		if first := answers[0]; a.Status != first.Status || a.Length != first.Length {
			return fmt.Sprintf("%s answers %d with %d bytes, %s answers %d with %d bytes", first.URL, first.Status, first.Length, a.URL, a.Status, a.Length)
		}
	}
	return ""
}
