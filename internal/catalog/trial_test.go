package catalog_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"prony/internal/catalog"
	"prony/internal/testserver"
)

// TestMain lets the test binary stand in for programs that entries start:
// "serve ADDRESS [WORD...]", which answers with the words, and "fail".
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "fail" {
		fmt.Fprintln(os.Stderr, "cannot: on purpose")
		os.Exit(7)
	}
	if len(os.Args) > 2 && os.Args[1] == "serve" {
		if _, err := testserver.Start(testserver.Config{Address: os.Args[2], Body: []byte(strings.Join(os.Args[3:], "|"))}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		select {}
	}
	os.Exit(m.Run())
}

// trial is of entries given as texts, with this binary as Prony.
func trial(t *testing.T, texts map[string]string) catalog.Trial {
	t.Helper()
	c, err := catalog.Open(folder(texts))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Trial{Catalog: c, Cache: t.TempDir(), Prony: self}
}

func entry(kind, command string, more ...string) string {
	return "description: d\nkind: " + kind + "\nrun: {command: '" + command + "', env: {A: '${work}'}}\n" + strings.Join(more, "\n") + "\n"
}

func TestTrial(t *testing.T) {
	serve := "${prony} serve ${host}:${port}"
	routes := "routes: [{path: /, body: 'a b|c'}, {path: /status/404, status: 404}, {path: /bytes/20, body_length: 20}, {path: /uuid, body_regexp: '^.uuid'}]"
	tr := trial(t, map[string]string{
		"app/target.yaml":   entry("app", serve+` "a b" c`, strings.Replace(routes, "'^.uuid'", "uuid", 1)),
		"liar/target.yaml":  entry("app", serve, "routes: [{path: /}, {path: /status/500}, {path: /bytes/3, body_length: 4}, {path: /, body_regexp: x}, {path: /, body: y}]"),
		"fails/target.yaml": entry("app", "${prony} fail", "routes: [{path: /}]"),
		"mute/target.yaml":  entry("app", serve, "ready: {path: /status/503, within: 200ms}", "routes: [{path: /}]"),
		"none/target.yaml":  entry("app", "/nonexistent/program", "routes: [{path: /}]"),
	})
	cases := map[string]struct {
		wrong []string // of the outcome
		err   string
	}{
		"app":   {},
		"liar":  {wrong: []string{"got status 500, want 200", "got a body of 3 bytes, want 4", `got the body "", want one like x`, `got the body "", want "y"`}},
		"fails": {err: "start catalog entry fails: it ended before it served: exit status 7\n  cannot: on purpose"},
		"mute":  {err: "start catalog entry mute: it does not serve /status/503 within 200ms: got status 503, want 200"},
		"none":  {err: "start catalog entry none: fork/exec /nonexistent/program: no such file or directory"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o, err := tr.Run(t.Context(), name)
			if got := fmt.Sprint(err); c.err != "" && got != c.err || c.err == "" && err != nil {
				t.Fatalf("got error %v, want %q", err, c.err)
			}
			var wrong []string
			for _, r := range o.Routes {
				if r.Err != nil {
					wrong = append(wrong, r.Err.Error())
				}
			}
			if !slices.Equal(wrong, c.wrong) || o.Good() != (len(c.wrong) == 0) {
				t.Errorf("got %q wrong, good %t; want %q", wrong, o.Good(), c.wrong)
			}
			if o.URL != "" {
				if c, err := net.Dial("tcp", strings.TrimPrefix(o.URL, "http://")); err == nil {
					_ = c.Close()
					t.Error("it still listens after the trial")
				}
			}
		})
	}
}

func TestTrialIsInterrupted(t *testing.T) {
	tr := trial(t, map[string]string{"mute/target.yaml": entry("app", "${prony} serve ${host}:${port}", "ready: {path: /silent}", "routes: [{path: /}]")})
	ctx, cancel := context.WithCancel(t.Context())
	tr.Say = func(string) { cancel() } // as it starts
	if _, err := tr.Run(ctx, "mute"); err == nil {
		t.Error("a trial that was interrupted ended well")
	}
}

func TestBuildOnce(t *testing.T) {
	text := "description: d\nkind: app\nbuild: {command: '${prony_test} ${output}', inputs: [in], output: made/out}\nrun: {command: '${output}'}\nroutes: [{path: /}]\nparameters: {prony_test: {default: touch, doc: d}}\n"
	c, err := catalog.Open(folder(map[string]string{"e/target.yaml": text, "e/in/made/.keep": "", "e/in/x": "x"}))
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Entry("e")
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	render := func(tool string) *catalog.BuildCommand {
		t.Helper()
		_, command, err := e.Render(map[string]string{"prony_test": tool}, place(func(p *catalog.Place) { p.Cache = cache }))
		if err != nil {
			t.Fatal(err)
		}
		return command.Build
	}
	for name, want := range map[string]string{"false": "build: false made/out: exit status 1", "true": "build: true made/out made no made/out", "/nonexistent": "build: /nonexistent made/out: fork/exec"} {
		if err := render(name).Build(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", name, err, want)
		}
	}
	b := render("touch")
	b.Args = []string{"mkdir", "-p", "made/out"}
	var all sync.WaitGroup
	for range 4 { // side by side
		all.Go(func() {
			if err := b.Build(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	b.Args = []string{"false"}
	if err := b.Build(t.Context()); err != nil {
		t.Errorf("what was built is built again: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "e", ".build-*")); len(left) > 0 {
		t.Errorf("builds left %q behind", left)
	}
}
