package lab

import (
	"strings"
	"testing"

	"prony/internal/plan"
)

func TestResultsHoldNoSecrets(t *testing.T) {
	p := plan.Plan{Load: plan.Load{Requests: []plan.Request{{URL: "http://me:s3cret@host/", Headers: []plan.Header{
		{Name: "authorization", Value: "Basic s3cret"}, {Name: "Cookie", Value: "id=s3cret"}, {Name: "Accept", Value: "*/*"}}}}}}
	q := redacted(p).Load.Requests[0]
	if strings.Contains(q.URL+q.Headers[0].Value+q.Headers[1].Value, "s3cret") || q.Headers[2].Value != "*/*" {
		t.Errorf("got %+v", q)
	}
	if p.Load.Requests[0].Headers[0].Value != "Basic s3cret" {
		t.Error("the plan that is carried out lost its header")
	}
	words := strings.Join(redactWords([]string{"prony", "load", "http://me:s3cret@host/", "-H", "Authorization: Bearer s3cret", "-A", "me:s3cret"}), " ")
	if strings.Contains(words, "s3cret") || !strings.Contains(words, "://***@host/") {
		t.Errorf("got %s", words)
	}
}
