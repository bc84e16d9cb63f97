package e2e_test

import (
	"strings"
	"testing"
)

// TestNginxCountedTheSame: what nginx counted is what Prony says it sent, to
// the request, and the connections likewise.
func TestNginxCountedTheSame(t *testing.T) {
	n := startNginx(t)
	for _, tt := range []struct {
		name, args string
		each       int64 // requests that nginx counts for one of ours
		want       int64 // requests; 0: any number above 100
	}{
		{"closed", "load -c 16 -d 300ms URL/", 1, 0},
		{"closed, warm-up", "load -c 16 -d 200ms -w 100ms URL/", 1, 0},
		{"closed, several threads", "load -c 16 -t 2 -d 200ms URL/", 1, 0},
		{"open", "load -r 2000/s --arrivals constant -d 400ms URL/", 1, 800},
		{"open, poisson", "load -r 1000/s -d 400ms URL/", 1, 0},
		{"open, few connections", "load -r 1000/s --arrivals constant -c 2 -d 400ms URL/", 1, 400},
		{"count", "load -n 3000 -c 16 URL/", 1, 3000},
		{"count, more connections", "load -n 200 -c 200 URL/", 1, 200},
		{"count, io_uring or what there is", "load -n 3000 -c 16 --engine auto URL/", 1, 3000},
		{"count, epoll", "load -n 3000 -c 16 --engine epoll URL/", 1, 3000},
		{"count, goroutines", "load -n 3000 -c 16 --engine goroutines URL/", 1, 3000},
		{"count, kernel timestamps", "load -n 3000 -c 16 --timestamps kernel URL/", 1, 3000},
		{"pipelined", "load -n 3000 -c 8 --pipeline 8 URL/", 1, 3000},
		{"pipelined, goroutines", "load -n 1000 -c 8 --pipeline 8 --engine goroutines URL/", 1, 1000},
		{"no keep-alive", "load -n 1000 -c 8 --no-keepalive URL/", 1, 1000},
		{"no keep-alive, by time", "load -c 8 -d 200ms --no-keepalive URL/", 1, 0},
		{"TLS", "load -k -n 1000 -c 8 TLS/", 1, 1000},
		{"TLS, by time", "load -k -d 200ms -c 8 TLS/", 1, 0},
		{"TLS, no keep-alive", "load -k -n 200 -c 8 --no-keepalive TLS/", 1, 200},
		{"two paths", "load -n 2000 -c 8 --weight 3 --weight 1 URL/ URL/missing", 1, 2000},
		{"plain and TLS", "load -k -n 2000 -c 8 URL/ TLS/", 1, 2000},
		{"bodies there", "load -n 500 -c 8 -b @BODY URL/", 1, 500},
		{"bodies back", "load -n 500 -c 8 URL/large", 1, 500},
		{"HEAD", "load -n 500 -c 8 -m HEAD URL/", 1, 500},
		{"proxied by itself", "load -n 1000 -c 8 URL/proxy/", 2, 1000},
		{"nothing drained", "load -c 16 -d 200ms --drain 0 URL/large", 1, 0},
		{"ab", "ab -q -n 1000 -c 10 URL/", 1, 1000},
		{"ab, kept", "ab -q -k -n 1000 -c 10 URL/", 1, 1000},
		{"ab, TLS", "ab -q -n 200 -c 10 TLS/", 1, 200},
		{"wrk", "wrk -t2 -c16 -d1s URL/", 1, 0},
		{"wrk, TLS", "wrk -t1 -c8 -d1s TLS/", 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := strings.Repeat("x", 10_000)
			n.write(t, "post", []byte(body))
			args := strings.NewReplacer("URL", n.url(""), "TLS", n.tls(""), "BODY", n.dir+"/post").Replace(tt.args)
			before := n.counters(t)
			got, _ := prony(t, strings.Fields(args)...)
			counted := n.settled(t, before, got.sent()*tt.each)
			q := got.Load.Requests
			sameCount(t, counted.requests, got, tt.each)
			if tt.want > 0 && q.Completed+q.Failed != tt.want || tt.want == 0 && q.Completed < 100 {
				t.Errorf("got %d completed, %d failed, want %d (0: many)", q.Completed, q.Failed, tt.want)
			}
			if got.Load.Failures["http-status"] != q.Failed {
				t.Errorf("got failures %v", got.Load.Failures)
			}
			if c := got.Load.Connections; tt.each == 1 && counted.handled != c.Connects-c.Failed {
				t.Errorf("nginx handled %d connections, prony opened %d (%+v)", counted.handled, c.Connects-c.Failed, c)
			}
		})
	}
}

// sameCount compares what nginx counted with what was sent. A request that was
// cut off may be lost with its connection before nginx has read it.
func sameCount(t *testing.T, counted int64, got figures, each int64) {
	t.Helper()
	most := got.sent() * each
	if least := most - got.Load.Requests.CutOff*each; counted < least || counted > most {
		t.Errorf("nginx counted %d requests, want %d to %d: %+v", counted, least, most, got.Load.Requests)
	}
}

// settled asks nginx until it has counted that much: it may see the last
// requests of a load that was cut off after prony has ended. What it counts
// beyond is a mistake, and returned.
func (n *nginx) settled(t *testing.T, before counters, want int64) (counted counters) {
	t.Helper()
	questions := int64(-1)
	eventually(t, "nginx has counted all requests", func() bool {
		questions++
		counted = n.counters(t).since(before)
		counted.requests -= questions
		counted.handled -= questions
		return counted.requests >= want || questions > 100
	})
	return counted
}

// TestChurn: a server that closes after 100 requests costs connections and no
// request (CH1).
func TestChurn(t *testing.T) {
	n := startNginx(t)
	url := strings.Replace(n.url("/"), portOf(n.plain), portOf(n.churn), 1)
	for _, args := range []string{"load -n 4000 -c 8", "load -n 4000 -c 8 --engine goroutines", "load -n 4000 -c 4 --pipeline 3"} {
		t.Run(args, func(t *testing.T) {
			before := n.counters(t)
			got, _ := prony(t, append(strings.Fields(args), url)...)
			if q := got.Load.Requests; q.Completed != 4000 || q.Failed != 0 {
				t.Errorf("got %+v and failures %v, want 4000 completed", q, got.Load.Failures)
			}
			if c := got.Load.Connections; c.Reopened < 4000/100-8 || c.Reopened > 4000/100+8 {
				t.Errorf("got %d connections opened again, want about %d", c.Reopened, 4000/100-8)
			}
			if counted := n.settled(t, before, 4000); counted.requests < 4000 || counted.requests > got.sent() {
				t.Errorf("nginx counted %d requests, prony sent %d", counted.requests, got.sent())
			}
		})
	}
}
