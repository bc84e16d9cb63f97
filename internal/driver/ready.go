package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"prony/internal/plan"
)

// Times of asking whether an instance is ready.
const (
	withinDefault = time.Minute
	probePatience = 2 * time.Second // of one question
	pauseFirst    = 2 * time.Millisecond
	pauseMost     = 100 * time.Millisecond
)

// ReadyOf is when a request's instance counts as ready: what its service says,
// else what its program says, else when it takes a connection.
func (r Request) ReadyOf(p Program) plan.Ready {
	ready := r.Service.Ready
	if ready.Path == "" && ready.Log == "" && !ready.TCP {
		within := ready.Within
		ready = p.Ready
		if within != 0 {
			ready.Within = within
		}
	}
	if ready.Path == "" && ready.Log == "" {
		ready.TCP = true
	}
	if ready.Path != "" && ready.Status == 0 {
		ready.Status = http.StatusOK
	}
	if ready.Within == 0 {
		ready.Within = withinDefault
	}
	return ready
}

// Pattern is the pattern that a log line of the instance has to match; nil for
// none.
func Pattern(r plan.Ready) (*regexp.Regexp, error) {
	if r.Log == "" {
		return nil, nil
	}
	pattern, err := regexp.Compile(r.Log)
	if err != nil {
		return nil, fmt.Errorf("ready when a line matches: %w", err)
	}
	return pattern, nil
}

// question is one thing that has to be true.
type question struct {
	what string // "TCP connection to 127.0.0.1:80"
	ask  func(ctx context.Context) error
}

var errLine = errors.New("no line matched")

// questions are those of a readiness, in the order in which they come true.
func questions(r plan.Ready, base string, log *Log) ([]question, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("address %q: want a base URL", base)
	}
	var all []question
	if r.Log != "" {
		all = append(all, question{fmt.Sprintf("line that matches %q", r.Log), func(context.Context) error {
			select {
			case <-log.Seen():
				return nil
			default:
				return errLine
			}
		}})
	}
	if r.TCP {
		address := hostPort(u)
		all = append(all, question{"TCP connection to " + address, func(ctx context.Context) error { return connect(ctx, address) }})
	}
	if r.Path != "" {
		target, err := u.Parse(r.Path)
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", r.Path, err)
		}
		all = append(all, question{"GET " + target.String(), func(ctx context.Context) error { return get(ctx, target.String(), r.Status) }})
	}
	return all, nil
}

// hostPort is where to connect to.
func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	port := "80"
	if u.Scheme == "https" {
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func connect(ctx context.Context, address string) error {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return c.Close()
}

// bodyBytes bounds how much of an answer is read.
const bodyBytes = 64 << 10

// get asks once, on a connection of its own, without proxy, and follows nothing.
func get(ctx context.Context, target string, want int) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, bodyBytes)) // the status is what counts
	if answer.StatusCode != want {
		return fmt.Errorf("status %d, want %d", answer.StatusCode, want)
	}
	return nil
}

// await asks until everything is true, the instance has ended, or the time is
// up. The error says what was not true and why.
func await(ctx context.Context, within time.Duration, all []question, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for _, q := range all {
		if err := q.until(ctx, ended); err != nil {
			return fmt.Errorf("%s: %w", q.what, err)
		}
	}
	return nil
}

var errEnded = errors.New("it ended")

// until asks one question until it is true.
func (q question) until(ctx context.Context, ended <-chan struct{}) error {
	for pause := pauseFirst; ; pause = min(2*pause, pauseMost) {
		err := q.once(ctx, ended)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return errEnded
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// once asks, and gives up at once when the instance ends.
func (q question) once(ctx context.Context, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	if ended != nil {
		done := make(chan struct{})
		defer close(done)
		go func() {
			select {
			case <-ended:
				cancel()
			case <-done:
			}
		}()
	}
	return q.ask(ctx)
}
