package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prony/internal/testserver"
)

// example is a command line that a text shows.
type example struct {
	where string // file and line
	args  []string
}

// TestExamplesRun runs every command line that the help texts and the documents
// show, on a target of its own and with small numbers: what people copy has to
// work.
func TestExamplesRun(t *testing.T) {
	all := append(helpExamples(t), documentExamples(t)...)
	if len(all) < 10 {
		t.Fatalf("found %d examples only: are they still written as this test reads them?", len(all))
	}
	plainServer, tlsServer := serve(t, false), serve(t, true)
	t.Setenv("PRONY_HOME", t.TempDir())
	t.Chdir(exampleFiles(t))
	seen := map[string]bool{}
	for _, e := range all {
		line := strings.Join(e.args, " ")
		if seen[line] {
			continue
		}
		seen[line] = true
		t.Run(e.where+" "+line, func(t *testing.T) {
			args := shrink(e.args, plainServer, tlsServer)
			if args[0] == "target" || args[0] == "demo" {
				checkFlags(t, args)
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			var out, errs bytes.Buffer
			code := run(ctx, append([]string{"prony"}, args...), streams{out: &out, err: &errs})
			// A goal may be missed, and this machine too busy for a verdict.
			if code != exitGood && code != exitVerdict || !strings.Contains(out.String()+errs.String(), "00") {
				t.Errorf("prony %s: status %d\n%s%s", strings.Join(args, " "), code, &out, &errs)
			}
		})
	}
}

func serve(t *testing.T, secure bool) (address string) {
	t.Helper()
	var c testserver.Config
	if secure {
		c.TLS, _ = testserver.SelfSigned("127.0.0.1")
	}
	s, err := testserver.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return strings.TrimSuffix(s.URL(), "/")
}

// exampleFiles is a folder with the files that examples read.
func exampleFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"post.lua": "wrk.method = \"POST\"\nwrk.body = \"a=b\"\n", "script.lua": "", "body.json": "{}", "FILE": "0.1\n", "times.txt": "0.1\n0.2\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// helpExamples are the examples of all commands' help.
func helpExamples(t *testing.T) (all []example) {
	t.Helper()
	for _, cmd := range rootCommand(streams{}).Commands() {
		all = append(all, examplesIn("help of "+cmd.Name(), cmd.Example)...)
	}
	return all
}

// documentExamples are those of the read-me and the documents, whole lines of
// code and code inside of a sentence.
func documentExamples(t *testing.T) (all []example) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, filepath.Join("..", "..", "README.md")) {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, examplesIn(filepath.Base(file), string(text))...)
	}
	return all
}

var (
	codeInText = regexp.MustCompile("`(prony [^`]+)`")
	comment    = regexp.MustCompile(`\s+#\s.*$`)
)

// examplesIn finds the commands in a text. Without an address it is a mention
// of a command and no example.
func examplesIn(where, text string) (all []example) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		found := []string{strings.TrimPrefix(strings.TrimSpace(line), "$ ")}
		for _, m := range codeInText.FindAllStringSubmatch(line, -1) {
			found = append(found, m[1])
		}
		for _, code := range found {
			args := words(comment.ReplaceAllString(code, ""))
			if len(args) > 2 && args[0] == "prony" && isExample(args[1:]) {
				all = append(all, example{fmt.Sprintf("%s:%d", where, number), args[1:]})
			}
		}
	}
	return all
}

func isExample(args []string) bool {
	switch args[0] {
	case "target", "demo":
		return strings.HasPrefix(args[1], "-")
	case "load", "wrk", "ab":
		return slices.ContainsFunc(args, func(s string) bool { return s == "URL" || strings.Contains(s, "://") })
	}
	return false
}

// words splits a command line as a shell does, with quotes and without escapes.
func words(line string) (all []string) {
	var word strings.Builder
	var quote rune
	open := false
	for _, r := range line {
		switch {
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case r == quote:
			quote = 0
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if open {
				all = append(all, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		all = append(all, word.String())
	}
	return all
}

var (
	origin   = regexp.MustCompile(`^(https?)://[^/]+`)
	duration = regexp.MustCompile(`^-d.+`)
	amount   = regexp.MustCompile(`^\d+[kM]?$`)
)

// shrink turns an example into one that is done at once, on our own target:
// other addresses, short times, few requests.
func shrink(args []string, plainServer, tlsServer string) []string {
	args = slices.Clone(args)
	for i, s := range args {
		before := ""
		if i > 0 {
			before = args[i-1]
		}
		switch {
		case s == "URL":
			args[i] = plainServer + "/"
		case strings.HasPrefix(s, "https://"):
			args[i] = origin.ReplaceAllString(s, tlsServer)
		case strings.HasPrefix(s, "http://"):
			args[i] = origin.ReplaceAllString(s, plainServer)
		case before == "-d" || before == "-w":
			args[i] = map[bool]string{true: "1s", false: "100ms"}[args[0] == "wrk"]
		case duration.MatchString(s):
			args[i] = "-d1s"
		case before == "-n" && amount.MatchString(s):
			args[i] = "500"
		case before == "-t" && args[0] == "ab":
			args[i] = "1"
		}
	}
	if args[0] == "load" && !slices.Contains(args, "-d") && !slices.Contains(args, "-n") {
		args = append(args, "-d", "100ms")
	}
	return args
}

// checkFlags parses the flags of a command that would not end.
func checkFlags(t *testing.T, args []string) {
	t.Helper()
	cmd, rest, err := rootCommand(streams{}).Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil {
		t.Errorf("prony %s: %v", strings.Join(args, " "), err)
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                        nil,
		"a  b":                    {"a", "b"},
		"-H 'a: b' c":             {"-H", "a: b", "c"},
		`--expect "p99 < 50ms"`:   {"--expect", "p99 < 50ms"},
		"x=''":                    {"x="},
		"''":                      {""},
		"prony load URL -d 10s\n": {"prony", "load", "URL", "-d", "10s"},
	} {
		if got := words(line); !slices.Equal(got, want) {
			t.Errorf("words(%q) = %q, want %q", line, got, want)
		}
	}
}

// TestEveryFlagIsInTheHelp: a flag without a usage text helps nobody.
func TestEveryFlagIsInTheHelp(t *testing.T) {
	var out bytes.Buffer
	if code := run(t.Context(), []string{"prony", "load", "--help"}, streams{out: &out, err: &out}); code != exitGood {
		t.Fatalf("status %d", code)
	}
	for _, name := range []string{"connections", "rate", "expect", "json", "hdr", "engine", "yes-i-may-load", "insecure", "print-spec"} {
		if !regexp.MustCompile(`--` + name + `[ =\[].*\pL{3}`).MatchString(out.String()) {
			t.Errorf("--%s is not explained", name)
		}
	}
}
