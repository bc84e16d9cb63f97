package script_test

import (
	"testing"

	"prony/internal/scenario"
	"prony/internal/wrk/script"
)

func BenchmarkRequest(b *testing.B) {
	scripts := []struct{ name, source string }{
		{"static", ""},
		{"constant", "local r function init() r = wrk.format() end function request() return r end"},
		{"format", "local n = 0 function request() n = n + 1 return wrk.format('GET', '/item/' .. n) end"},
		{"headers", "local h = {A = 'a', B = 'b', C = 'c'} function request() return wrk.format('POST', '/', h, 'body') end"},
		{"by hand", `local n = 0 function request() n = n + 1 return "GET /" .. n .. " HTTP/1.1\r\nHost: a\r\n\r\n" end`},
	}
	for _, s := range scripts {
		b.Run(s.name, func(b *testing.B) {
			p, _ := load(b, script.Config{Source: []byte(s.source)})
			t := p.Thread(0)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := t.Request(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkResponse(b *testing.B) {
	p, _ := load(b, script.Config{Source: []byte("local n = 0 function response(status, headers, body) if status ~= 200 then n = n + 1 end end")})
	t := p.Thread(0)
	headers := []scenario.Header{{Name: "Content-Length", Value: "5"}, {Name: "Server", Value: "x"}, {Name: "Date", Value: "today"}}
	body := []byte("hello")
	b.ReportAllocs()
	for b.Loop() {
		if err := t.Response(200, headers, body); err != nil {
			b.Fatal(err)
		}
	}
}
