package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"prony/internal/plan"
	"prony/internal/testserver"
)

// fullDevice is a file that takes no byte.
const fullDevice = "/dev/full"

// TestReportSurvivesFiles: a result file that cannot be written costs neither
// the report nor the other file.
func TestReportSurvivesFiles(t *testing.T) {
	if _, err := os.Stat(fullDevice); err != nil {
		t.Skipf("no %s here", fullDevice)
	}
	target, err := testserver.Start(testserver.Config{})
	if err != nil {
		t.Fatalf("start target: %v", err)
	}
	defer target.Close()
	hlog := t.TempDir() + "/r.hlog"
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"prony", "load", target.URL() + "/", "-q", "-n", "20", "--json", fullDevice, "--hdr", hlog}, streams{out: &out, err: &errs})
	if code != exitEnvironment || !strings.Contains(errs.String(), "no space left") {
		t.Errorf("got status %d and %q, want %d and the reason", code, errs.String(), exitEnvironment)
	}
	if !strings.Contains(out.String(), "20 asked = 20 completed") {
		t.Errorf("got report %q, want all of it", out.String())
	}
	if b, err := os.ReadFile(hlog); err != nil || len(b) == 0 {
		t.Errorf("got %d bytes in %s and error %v, want a log", len(b), hlog, err)
	}
}

// TestFolderIsCheckedFirst: a folder that is not there is told before the load,
// here of a target that does not exist.
func TestFolderIsCheckedFirst(t *testing.T) {
	for _, flag := range []string{"--json", "--hdr"} {
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"prony", "load", "http://127.0.0.1:1/", "-q", flag, "/nonexistent/file"}, streams{out: &out, err: &errs})
		if code != exitEnvironment || !strings.Contains(errs.String(), "open /nonexistent/file: no such file") {
			t.Errorf("%s: got status %d and %q, want %d and the file", flag, code, errs.String(), exitEnvironment)
		}
	}
	if err := foldersExist("-", "", "file-here"); err != nil {
		t.Errorf("got %v, want standard output and this folder accepted", err)
	}
}

func TestCredentialsOfURL(t *testing.T) {
	const basic = "Basic YTpi" // a:b
	for _, c := range []struct {
		name string
		args []string
		want []plan.Header
	}{
		{"none", []string{"http://127.0.0.1:1/"}, nil},
		{"of the URL", []string{"http://a:b@127.0.0.1:1/"}, []plan.Header{{Name: "Authorization", Value: basic}}},
		{"given by hand", []string{"http://a:b@127.0.0.1:1/", "-H", "authorization: x"}, []plan.Header{{Name: "authorization", Value: "x"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := mustParseLoad(t, c.args...).Requests[0]
			if q.URL != "http://127.0.0.1:1/" {
				t.Errorf("got URL %q, want it without credentials", q.URL)
			}
			if len(q.Headers) != len(c.want) || len(c.want) > 0 && q.Headers[0] != c.want[0] {
				t.Errorf("got headers %v, want %v", q.Headers, c.want)
			}
		})
	}
}

func TestURLWithoutScheme(t *testing.T) {
	for _, s := range []string{"127.0.0.1:8080", "localhost:8080/x", "example.com"} {
		if _, err := checkURL(s); err == nil || !strings.Contains(err.Error(), "want http:// or https:// in front") {
			t.Errorf("%s: got %v, want the remedy", s, err)
		}
	}
}
