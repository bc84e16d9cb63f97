package catalog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxAnswer bounds the body of an answer that is looked at, in bytes.
const maxAnswer = 64 << 20

// answerWithin bounds one request.
const answerWithin = 10 * time.Second

// answer is a response, read to its end.
type answer struct {
	status int
	body   []byte
}

// client asks on a fresh connection each time, follows no redirect and knows no
// proxy: it wants to see the server.
func client() *http.Client {
	return &http.Client{
		Timeout:       answerWithin,
		Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ask sends a request without a body.
func ask(ctx context.Context, method, url string) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return answer{}, err
	}
	response, err := client().Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	return answer{response.StatusCode, body}, err
}

// Check asks for the route at a server, such as http://127.0.0.1:8080, and says
// what is wrong with the answer; nil if it is the one that is owed.
func (r Route) Check(ctx context.Context, server string) error {
	a, err := ask(ctx, r.Method, server+r.Path)
	if err != nil {
		return err
	}
	switch {
	case a.status != r.Status:
		return fmt.Errorf("got status %d, want %d", a.status, r.Status)
	case r.Body != nil && !bytes.Equal(a.body, []byte(*r.Body)):
		return fmt.Errorf("got the body %s, want %s", quoted(string(a.body)), quoted(*r.Body))
	case r.BodyLength != nil && len(a.body) != *r.BodyLength:
		return fmt.Errorf("got a body of %d bytes, want %d", len(a.body), *r.BodyLength)
	case r.BodyRegexp != nil && !r.BodyRegexp.Match(a.body):
		return fmt.Errorf("got the body %s, want one like %s", quoted(string(a.body)), r.pattern())
	}
	return nil
}

// String is the request line and the answer that is owed.
func (r Route) String() string {
	text := fmt.Sprintf("%s %s: %d", r.Method, r.Path, r.Status)
	switch {
	case r.Body != nil:
		return text + " " + quoted(*r.Body)
	case r.BodyLength != nil:
		return fmt.Sprintf("%s, %d bytes", text, *r.BodyLength)
	case r.BodyRegexp != nil:
		return text + " like " + r.pattern()
	}
	return text
}

// pattern is the regular expression as it was written.
func (r Route) pattern() string { return strings.TrimPrefix(r.BodyRegexp.String(), "(?s)") }
