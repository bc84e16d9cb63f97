package lab

import (
	"regexp"
	"slices"
	"strings"

	"prony/internal/plan"
)

// hidden takes the place of what must not be in a file that people share.
const hidden = "***"

var (
	userinfo = regexp.MustCompile(`://[^/@\s]+@`)
	secret   = regexp.MustCompile(`(?i)^((?:proxy-)?authorization|cookie|x-api-key)(\s*:\s*).*`)
)

// redactWords hides passwords in a command line: in URLs, in header arguments
// and behind ab's -A, -P and -C.
func redactWords(words []string) []string {
	shown := slices.Clone(words)
	for i, w := range shown {
		w = userinfo.ReplaceAllString(w, "://"+hidden+"@")
		shown[i] = secret.ReplaceAllString(w, "${1}${2}"+hidden)
		if i > 0 && slices.Contains([]string{"-A", "-P", "-C"}, words[i-1]) {
			shown[i] = hidden
		}
	}
	return shown
}

// redacted is a copy of the plan for the result, without secrets.
func redacted(p plan.Plan) *plan.Plan {
	p.Load = redactLoad(p.Load)
	p.Also = slices.Clone(p.Also)
	for i, l := range p.Also {
		p.Also[i] = redactLoad(l)
	}
	return &p
}

func redactLoad(l plan.Load) plan.Load {
	l.Requests = slices.Clone(l.Requests)
	for i, q := range l.Requests {
		q.URL = userinfo.ReplaceAllString(q.URL, "://"+hidden+"@")
		q.Headers = slices.Clone(q.Headers)
		for k, h := range q.Headers {
			if secret.MatchString(strings.TrimSpace(h.Name) + ":") {
				q.Headers[k].Value = hidden
			}
		}
		l.Requests[i] = q
	}
	return l
}
