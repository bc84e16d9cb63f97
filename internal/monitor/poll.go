package monitor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"prony/internal/result"
)

// poll asks one URL again and again.
type poll struct {
	url    string
	client *http.Client
	meter  *meter
	// read notes what the answer says.
	read func(m *meter, body []byte) error
	// also makes a second track of the same answer; nil if there is none.
	also  *meter
	extra func(m *meter)

	c *collector
}

// newPolls makes one for each URL of the request.
func newPolls(c *collector) []*poll {
	var all []*poll
	for _, s := range c.services {
		for _, url := range s.target.Stats {
			p := newPoll(c, s, url, result.OfServer)
			p.read = readStub
			all = append(all, p)
		}
		for _, url := range s.target.Metrics {
			p, e := newPoll(c, s, url, result.OfExported), newExposition()
			p.read, p.extra = e.read, e.server
			p.also = newMeter(c.ids.next(), s.head(result.OfServer, s.target.Name))
			p.also.fact("url", url)
			all = append(all, p)
		}
	}
	return all
}

// bodyMax bounds an answer.
const bodyMax = 16 << 20

func newPoll(c *collector, s *serviceProbe, url, kind string) *poll {
	p := &poll{url: url, c: c, meter: newMeter(c.ids.next(), s.head(kind, s.target.Name))}
	p.meter.fact("url", url)
	p.client = &http.Client{
		Timeout:       max(c.request.every(), time.Second),
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConns: 1, ResponseHeaderTimeout: max(c.request.every(), time.Second)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return p
}

// pollShare is how much of the time reading answers may take; an endpoint with
// very many metrics is asked less often.
const pollShare = 0.02

// run asks until ctx ends.
func (p *poll) run(ctx context.Context, every time.Duration) {
	defer p.client.CloseIdleConnections()
	for {
		started := time.Now()
		spent := p.once(ctx)
		wait := max(every, time.Duration(float64(spent)/pollShare)) - time.Since(started)
		timer := time.NewTimer(max(wait, every/10))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// once asks once and returns the CPU time of reading the answer.
func (p *poll) once(ctx context.Context) time.Duration {
	body, err := p.get(ctx)
	if ctx.Err() != nil {
		return 0
	}
	spent := measured(func() {
		at := time.Since(p.c.epoch)
		p.meter.begin(at)
		if err == nil {
			err = p.read(p.meter, body)
		}
		p.tell(err)
		p.meter.end(at, p.c.sink)
		if p.also != nil && err == nil {
			p.also.begin(at)
			p.extra(p.also)
			p.also.end(at, p.c.sink)
		}
	})
	p.c.polling.Add(int64(spent))
	return spent
}

// tell notes whether the endpoint answered, and why not.
func (p *poll) tell(err error) {
	delete(p.meter.head.Unknown, "answer")
	if err == nil {
		p.meter.gauge(Up, 1)
		return
	}
	p.meter.head.Unknown["answer"] = err.Error()
	p.meter.gauge(Up, 0)
}

var errStatus = errors.New("want status 200")

func (p *poll) get(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := p.client.Do(request)
	if err != nil {
		return nil, err // it names the URL
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, bodyMax))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", p.url, err)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("read %s: status %d: %w", p.url, answer.StatusCode, errStatus)
	}
	return body, nil
}
