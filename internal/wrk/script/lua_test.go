package script_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"prony/internal/wrk/script"
)

// prints runs a script, with its init and setup, and compares what it prints.
func prints(t *testing.T, source, want string) {
	t.Helper()
	_, out := load(t, script.Config{File: "x.lua", Source: []byte("function init(args)\n" + source + "\nend")})
	if got := strings.TrimSuffix(out.String(), "\n"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestExpressions(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"whole numbers", "print(1, -7, 10/2, 2^31, 1e13)", "1\t-7\t5\t2147483648\t10000000000000"},
		{"fractions", "print(1/3, 0.1+0.2, -2.5)", "0.33333333333333\t0.3\t-2.5"},
		{"large numbers", "print(1e15, 2^53)", "1e+15\t9.007199254741e+15"},
		{"no numbers", "print(tostring(0/0), 1/0, -1/0)", "nan\tinf\t-inf"},
		{"tostring", "print(tostring(nil), tostring(true), tostring('a'))", "nil\ttrue\ta"},
		{"%g", "print(string.format('%g %g %g %.3g', 1234567, 0.1, 99.999, 2/3))", "1.23457e+06 0.1 99.999 0.667"},
		{"%d cuts", "print(string.format('%d %i %5d|%-5d|%05d', 3.99, -3.7, 42, 42, 42))", "3 -3    42|42   |00042"},
		{"%x", "print(string.format('%x %X %#x %o %u', 255, 255, 255, 8, 7))", "ff FF 0xff 10 7"},
		{"%f", "print(string.format('%.2f %8.3f|%e', 1.005, 2, 12345.678))", "1.00    2.000|1.234568e+04"},
		{"%s", "print(string.format('%s|%5s|%-5s|%.2s|%s', 1.5, 'ab', 'ab', 'abc', true))", "1.5|   ab|ab   |ab|true"},
		{"%s by bytes", `print(string.format('%4s|%.1s', '\195\164', 'ab'))`, "  \u00e4|a"},
		{"%c and %%", "print(string.format('%c%c 100%%', 72, 105))", "Hi 100%"},
		{"%q", `print(string.format('%q', 'a"b\\\n'))`, "\"a\\\"b\\\\\\\n\""},
		{"as a method", "print(('%d-%s'):format(1, 'x'))", "1-x"},
		{"bad conversion", "print(pcall(string.format, '%y', 1))", "false\tx.lua:2: invalid option '%y' to 'format'"},
		{"cut conversion", "print(pcall(string.format, '%'))", "false\tx.lua:2: invalid format (width or precision too long, or no conversion)"},
		{"missing argument", "print((pcall(string.format, '%d')))", "false"},
		{"io", "io.write('a', 1.5, 2) print(io.stdout:write('b'), io.type(io.stdout), io.type(1))", "a1.52btrue\tfile\tnil"},
		{"flush", "print(io.stdout:flush(), io.stderr:setvbuf('no'), io.output() == io.stdout)", "true\ttrue\ttrue"},
		{"write a table", "print((pcall(io.write, {})))", "false"},
		{"goto", "local i = 0 ::top:: i = i + 1 if i < 3 then goto top end print(i)", "3"},
		{"recursion", "local function f(n) return n == 0 and 0 or 1 + f(n - 1) end print(f(3000))", "3000"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { prints(t, test.source, test.want) })
	}
}

func TestBit(t *testing.T) {
	tests := []struct{ source, want string }{
		{"bit.tobit(0xffffffff)", "-1"}, {"bit.tobit(2^32 + 5)", "5"}, {"bit.tobit(-1)", "-1"}, {"bit.tobit(-2^32 - 1)", "-1"},
		{"bit.band(0x12345678, 0xff, 0x3c)", "56"}, {"bit.bor(1, 2, 4, 8)", "15"}, {"bit.bxor(0xa5a5f0f0, 0xaa55ff00)", "267390960"},
		{"bit.bnot(0)", "-1"}, {"bit.bnot(0x12345678)", "-305419897"},
		{"bit.lshift(1, 31)", "-2147483648"}, {"bit.lshift(1, 33)", "2"}, {"bit.rshift(-256, 8)", "16777215"}, {"bit.arshift(-256, 8)", "-1"},
		{"bit.rol(0x12345678, 12)", "1164411171"}, {"bit.ror(0x12345678, 12)", "1736516421"}, {"bit.bswap(0x12345678)", "2018915346"},
		{"bit.tohex(1)", "00000001"}, {"bit.tohex(-1)", "ffffffff"}, {"bit.tohex(-1, -8)", "FFFFFFFF"}, {"bit.tohex(0x87654321, 4)", "4321"},
		{"require('bit').tohex(255, 2)", "ff"},
	}
	for _, test := range tests {
		t.Run(test.source, func(t *testing.T) { prints(t, "print("+test.source+")", test.want) })
	}
}

func TestRandom(t *testing.T) {
	roll := "local r = math.random(1000000)"
	source := roll + ` print(r) math.randomseed(5) print(math.random(1, 10) == (math.randomseed(5) or math.random(1, 10)))
	for i = 1, 1000 do
		local a, b = math.random(3), math.random(-1, 1)
		if a < 1 or a > 3 or b < -1 or b > 1 or math.random() >= 1 then print("outside", a, b) end
	end
	print(pcall(math.random, 0))`
	_, out := load(t, script.Config{Source: []byte("function init() " + source + " end"), Threads: 2})
	_, again := load(t, script.Config{Source: []byte("function init() " + source + " end"), Threads: 2})
	if out.String() != again.String() {
		t.Errorf("two runs differ:\n%s%s", out, again)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 7 || lines[0] == lines[3] {
		t.Errorf("got\n%swant three lines a thread, with numbers of its own", out)
	}
	if lines[1] != "true" || !strings.Contains(lines[2], "interval is empty") {
		t.Errorf("got %q and %q, want true and an error", lines[1], lines[2])
	}
}

func TestTransfer(t *testing.T) {
	tests := []struct{ name, value, show, want string }{
		{"nil", "nil", "v", "nil"},
		{"boolean", "true", "v", "true"},
		{"number", "1.5", "v", "1.5"},
		{"string with NUL", `"a\0b"`, "#v, v:byte(3)", "3\t98"},
		{"flat table", "{1, 2, x = 'y', [true] = 4}", "#v, v[2], v.x, v[true]", "2\t2\ty\t4"},
		{"nested table", "{a = {b = {c = {1, {2}}}}}", "v.a.b.c[2][1]", "2"},
		{"shared table", "(function() local t = {5} return {t, t} end)()", "v[1][1] + v[2][1]", "10"},
		{"32 deep", "(function() local t = {} for i = 2, 32 do t = {t} end return t end)()", "type(v)", "table"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			source := fmt.Sprintf("function setup(t) t:set('v', %s) local v = t:get('v') print(%s) end\nfunction init() print(%s) end",
				test.value, test.show, test.show)
			_, out := load(t, script.Config{Source: []byte(source)})
			if got, want := out.String(), test.want+"\n"+test.want+"\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestTransferRefused(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"function", "print", "cannot transfer 'function' to thread"},
		{"thread", "t", "cannot transfer 'userdata' to thread"},
		{"function in a table", "{{print}}", "cannot transfer 'function' to thread"},
		{"table in itself", "(function() local t = {} t.t = {t} return t end)()", "table that contains itself"},
		{"33 deep", "(function() local t = {} for i = 2, 33 do t = {t} end return t end)()", "nested more than 32 deep"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fails(t, script.Config{Source: []byte("function setup(t) t:set('v', " + test.value + ") end")}, test.want)
		})
	}
}

func TestTableIsCopied(t *testing.T) {
	source := `local mine = {1}
function setup(t) t:set("v", mine) mine[1] = 2 print(t:get("v")[1]) end`
	_, out := load(t, script.Config{Source: []byte(source)})
	if got := out.String(); got != "1\n" {
		t.Errorf("got %q, want the value before the change", got)
	}
}

func TestThreadObject(t *testing.T) {
	source := `
function setup(t)
	print(t.addr, t.other, t:get("nothing"))
	print(pcall(function() t.foo = 1 end))
	print(pcall(function() t.addr = "1.2.3.4:5" end))
	print(pcall(t.get, 5, "x"))
	t:stop()
end
function init() print(wrk.thread.addr, wrk.addrs) end
print(wrk.thread)`
	p, out := load(t, script.Config{File: "x.lua", Source: []byte(source)})
	want := `nil
nil
127.0.0.1:8080	nil	nil
false	x.lua:4: cannot set 'foo' on thread
false	x.lua:5: bad argument #3 to (anonymous) (wrk.addr expected, got string)
false	x.lua:6: bad argument #1 to (anonymous) (wrk.thread expected, got number)
127.0.0.1:8080	nil
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if p.Thread(0).Wants().Stopped() {
		t.Error("stop() in setup stops a thread that does not run yet")
	}
}

func TestOrderOfStates(t *testing.T) {
	source := `
print("load")
function setup(t) print("setup") end
function init(args) print("init", args[0], args[1], #args) end
function request() print("request") return wrk.format() end`
	_, out := load(t, script.Config{Source: []byte(source), Threads: 2, Args: []string{"URL", "a", "b"}})
	want := "load load setup init URL a 2 request load setup init URL a 2"
	if got := strings.Join(strings.Fields(out.String()), " "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFormat(t *testing.T) {
	tests := []struct{ name, call, want string }{
		{"defaults", "wrk.format()", "GET /start HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"},
		{"false is missing", "wrk.format(false, nil)", "GET /start HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"},
		{"all", "wrk.format('PUT', '/x', {A = 1}, 'abc')",
			"PUT /x HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nA: 1\r\nContent-Length: 3\r\n\r\nabc"},
		{"own host", "wrk.format('GET', '/', {B = 'b', Host = 'h'})", "GET / HTTP/1.1\r\nHost: h\r\nB: b\r\n\r\n"},
		{"host in small letters", "wrk.format('GET', '/', {host = 'h'})", "GET / HTTP/1.1\r\nhost: h\r\n\r\n"},
		{"wrong length", "wrk.format('POST', '/', {['content-length'] = 9}, 'abc')",
			"POST / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 3\r\n\r\nabc"},
		{"length without body", "wrk.format('GET', '/', {['Content-Length'] = 9})", "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"},
		{"body with NUL", `wrk.format('POST', '/', nil, "a\0b")`,
			"POST /start HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 3\r\n\r\na\x00b"},
		{"number as body", "wrk.format('POST', '/', nil, 12)", "POST / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 2\r\n\r\n12"},
		{"many headers", "(function() wrk.headers.Z = 1 wrk.headers.A = 2 wrk.headers.M = 3 return wrk.format() end)()",
			"GET /start HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nZ: 1\r\nA: 2\r\nM: 3\r\n\r\n"},
		{"in a coroutine", "coroutine.wrap(function() return wrk.format('GET', '/co') end)()", "GET /co HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, _ := load(t, script.Config{Path: "/start", Source: []byte("function request() return " + test.call + " end")})
			want := strings.ReplaceAll(test.want, "POST /start", "POST /")
			if got := request(t, p.Thread(0)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestFormatChangesTheTable(t *testing.T) {
	prints(t, `local h = {A = 1}
wrk.format("POST", "/", h, "abc") print(h.Host, h["Content-Length"])
wrk.format("GET", "/", h) print(h.Host, h["Content-Length"])`, "127.0.0.1:8080\t3\n127.0.0.1:8080\tnil")
}

func TestWrkTable(t *testing.T) {
	c := script.Config{Scheme: "https", Path: "/p?q", Source: []byte(`
function init(args)
	print(wrk.scheme, wrk.host, wrk.port, wrk.method, wrk.path, wrk.body, type(wrk.port), wrk.headers.Host)
end
function request() return wrk.request() end`)}
	p, out := load(t, c)
	if got, want := out.String(), "https\t127.0.0.1\t8080\tGET\t/p?q\tnil\tstring\t127.0.0.1:8080\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := request(t, p.Thread(0)), "GET /p?q HTTP/1.1\r\n"+hostLine+"\r\n"; got != want {
		t.Errorf("wrk.request(): got %q, want %q", got, want)
	}
}

func TestIPv6Host(t *testing.T) {
	p, err := script.Load(script.Config{Host: "::1", Port: "81"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got, want := request(t, p.Thread(0)), "GET / HTTP/1.1\r\nHost: [::1]:81\r\n\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestResolve(t *testing.T) {
	c := script.Config{
		Lookup:  func(host, service string) ([]string, error) { return []string{host + ":1", host + ":2"}, nil },
		Connect: func(addr string) bool { return addr == "h:2" },
		Source:  []byte(`function setup(t) wrk.resolve("h", "s") print(#wrk.addrs, wrk.addrs[1]) print(pcall(wrk.connect, "h:2")) end`),
	}
	_, out := load(t, c)
	if got := out.String(); !strings.HasPrefix(got, "1\th:2\nfalse\t") {
		t.Errorf("got %q, want one address and an error", got)
	}
	c.Lookup = func(host, service string) ([]string, error) { return nil, errors.New("not today") }
	fails(t, c, "unable to resolve h:s not today")
}

func TestDefaultNetwork(t *testing.T) {
	prints(t, `local a = wrk.lookup("127.0.0.1", "1") print(#a, a[1], wrk.connect(a[1]))`, "1\t127.0.0.1:1\tfalse")
}

func TestFilesOfTheScript(t *testing.T) {
	file := filepath.ToSlash(filepath.Join(t.TempDir(), "out.txt"))
	prints(t, fmt.Sprintf(`
io.output(%q) io.write("one ", 2) io.close()
io.output(io.stdout) io.write("back ")
local f = io.open(%q) print(f:read("*a"), io.type(f)) f:close()`, file, file), "back one 2\tfile")
}

func TestFunctionsMayChange(t *testing.T) {
	source := `
function request() return wrk.format("GET", "/first") end
function response() request = function() return wrk.format("GET", "/second") end response = nil end`
	p, _ := load(t, script.Config{Source: []byte(source)})
	s := p.Thread(0)
	for range 2 { // the second time there is no response() any more
		if err := s.Response(200, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Fields(request(t, s))[1]; got != "/second" {
		t.Errorf("got %s, want /second", got)
	}
}
