package script

import (
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// format is wrk.format(method, path, headers, body): the text of a request.
// What is missing comes from the wrk table. As in wrk it completes the table
// of headers it was given: Host is set if absent, Content-Length set to the
// length of the body or removed.
func (s *state) format(l *lua.LState) int {
	method, path := s.argument(l, 1, "method"), s.argument(l, 2, "path")
	headers, ok := s.argument(l, 3, "headers").(*lua.LTable)
	if !ok {
		l.RaiseError("wrk.format: headers is no table")
	}
	body := s.argument(l, 4, "body")
	if headers.RawGetString("Host") == lua.LNil {
		s.setHost(headers)
	}
	b := append(s.buf[:0], s.text(l, "method", method)...)
	b = append(b, ' ')
	b = append(b, s.text(l, "path", path)...)
	b = append(b, " HTTP/1.1\r\n"...)
	b = s.appendHeaders(l, b, headers)
	b = s.appendBody(l, b, headers, body)
	s.buf = b
	l.Push(lua.LString(b))
	return 1
}

// argument returns an argument, or the field of the wrk table in its place.
func (s *state) argument(l *lua.LState, i int, name string) lua.LValue {
	if v := l.Get(i); lua.LVAsBool(v) {
		return v
	}
	return s.wrk.RawGetString(name)
}

// text is a part of a request as text; anything but strings and numbers is a
// mistake in the script.
func (s *state) text(l *lua.LState, what string, v lua.LValue) string {
	switch v := v.(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return numberText(float64(v))
	}
	l.RaiseError("wrk.format: %s is a %s, want a string", what, v.Type())
	return ""
}

// setHost takes Host from the wrk table, unless the script wrote the name in
// other letters: two Host fields would make the request invalid.
func (s *state) setHost(headers *lua.LTable) {
	common, ok := s.wrk.RawGetString("headers").(*lua.LTable)
	if !ok || findFold(headers, "Host") {
		return
	}
	if host := common.RawGetString("Host"); host != lua.LNil {
		headers.RawSetString("Host", host)
	}
}

// findFold reports whether a header is set under a name in any case.
func findFold(headers *lua.LTable, name string) bool {
	for k, _ := headers.Next(lua.LNil); k != lua.LNil; k, _ = headers.Next(k) {
		if key, ok := k.(lua.LString); ok && isName(string(key), name) {
			return true
		}
	}
	return false
}

// isName compares header names.
func isName(s, name string) bool {
	return len(s) == len(name) && strings.EqualFold(s, name)
}

// appendHeaders adds the fields in the order in which they were set, Host
// first. Content-Length is left to appendBody.
func (s *state) appendHeaders(l *lua.LState, b []byte, headers *lua.LTable) []byte {
	host := headers.RawGetString("Host")
	if host != lua.LNil {
		b = s.appendField(l, b, "Host", host)
	}
	for k, v := headers.Next(lua.LNil); k != lua.LNil; k, v = headers.Next(k) {
		name := s.text(l, "header name", k)
		if name == "Host" || isName(name, "Content-Length") {
			continue
		}
		b = s.appendField(l, b, name, v)
	}
	return b
}

func (s *state) appendField(l *lua.LState, b []byte, name string, value lua.LValue) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	if text, ok := value.(lua.LString); ok { // nearly always
		b = append(b, text...)
	} else {
		b = append(b, display(l, value)...)
	}
	return append(b, "\r\n"...)
}

// appendBody adds Content-Length, the blank line and the body.
func (s *state) appendBody(l *lua.LState, b []byte, headers *lua.LTable, body lua.LValue) []byte {
	if !lua.LVAsBool(body) {
		if headers.RawGetString("Content-Length") != lua.LNil {
			headers.RawSetString("Content-Length", lua.LNil)
		}
		return append(b, "\r\n"...)
	}
	text := s.text(l, "body", body)
	headers.RawSetString("Content-Length", lua.LNumber(len(text)))
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(len(text)), 10)
	b = append(b, "\r\n\r\n"...)
	return append(b, text...)
}
