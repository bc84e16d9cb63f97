package web_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"prony/internal/hdr"
	"prony/internal/result"
	"prony/internal/web"
)

var (
	update   = flag.Bool("update", false, "write the golden files again")
	writeDir = flag.String("fixtures", "", "write the fixtures as HTML files into this folder, for the tests in a browser")
)

func render(t *testing.T, doc web.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := web.Report(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// inside returns the JSON in a page.
func inside(t *testing.T, page string) string {
	t.Helper()
	const start, end = `<script type="application/json" id="prony-data">`, "</script>"
	_, rest, found := strings.Cut(page, start)
	data, _, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("the page has no data element")
	}
	return data
}

// TestFixtures writes the pages that the tests in a browser open.
func TestFixtures(t *testing.T) {
	if *writeDir == "" {
		t.Skip("only with -fixtures DIR")
	}
	for name, doc := range fixtures() {
		d := doc()
		if err := os.WriteFile(filepath.Join(*writeDir, name+".html"), []byte(render(t, d)), 0o644); err != nil {
			t.Fatal(err)
		}
		writeResult(t, filepath.Join(*writeDir, name+".json"), d)
	}
}

// writeResult writes the result of a document as JSON, which the history takes.
func writeResult(t *testing.T, file string, d web.Document) {
	t.Helper()
	var v any = d.Run
	if d.Experiment != nil {
		v = d.Experiment
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestHeadGolden(t *testing.T) {
	got, _, _ := strings.Cut(render(t, fixtures()["run-valid"]()), "<style>")
	// The hashes change with each build of the bundle; that they fit is tested
	// elsewhere.
	got = regexp.MustCompile(`sha256-[A-Za-z0-9+/=]+`).ReplaceAllString(got, "sha256-HASH")
	golden(t, "head.html", got)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update if that is right)\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

// TestSameBytes: KAT-53, a report from fixed data is the same again.
func TestKAT53SameBytes(t *testing.T) {
	if a, b := render(t, fixtureScaling()), render(t, fixtureScaling()); a != b {
		t.Error("two reports of the same document differ")
	}
}

// A page loads nothing: no element that has a source, no style that imports.
func TestNothingOutside(t *testing.T) {
	page := render(t, fixtures()["run-suspect"]())
	markup := regexp.MustCompile(`(?s)<script[^>]*>.*?</script>`).ReplaceAllString(page, "")
	for _, bad := range []string{"src=", "@import", "url(", "http://", "https://"} {
		if i := strings.Index(markup, bad); i >= 0 {
			t.Errorf("the page outside its scripts holds %q: %.80q", bad, markup[i:])
		}
	}
	for _, want := range []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(markup, want) {
			t.Errorf("the policy lacks %q", want)
		}
	}
	if strings.Contains(markup, "unsafe") {
		t.Error("the policy allows something unsafe")
	}
}

// Hostile content stays inside the data element, whatever it is.
func TestHostileContentStaysData(t *testing.T) {
	page := render(t, hostile())
	data := inside(t, page)
	if strings.ContainsAny(data, "<>&\u2028\u2029\x00") {
		t.Error("the data holds a character that could end its element")
	}
	if got, want := strings.Count(page, "</script>"), 2; got != want {
		t.Errorf("the page has %d ends of scripts, want %d", got, want)
	}
	if got := strings.Count(page, "<!--"); got != 0 {
		t.Errorf("the page has %d comments, want none", got)
	}
	head, _, _ := strings.Cut(page, "<style>")
	if strings.Contains(head, "<img") || strings.Contains(head, `onmouseover="`) || strings.Contains(head, "\x00") {
		t.Errorf("the head holds raw content: %s", head)
	}
	var back map[string]any
	if err := json.Unmarshal([]byte(data), &back); err != nil {
		t.Fatalf("the data is no JSON: %v", err)
	}
}

func FuzzTextStaysData(f *testing.F) {
	f.Add("plain")
	f.Add(evil)
	f.Add("</SCRIPT ><!--")
	f.Fuzz(func(t *testing.T, text string) {
		r := result.Run{Kind: text, Version: text, Validity: result.Validity{Verdict: result.Verdict(text), Findings: []result.Finding{{Message: text}}}}
		page := render(t, web.Document{Run: &r, Version: text, Command: text, Source: web.Source{Name: text, Text: text}})
		lower := strings.ToLower(page)
		if strings.Count(lower, "<script") != 2 || strings.Count(lower, "</script") != 2 || strings.Contains(page, "<!--") {
			t.Fatalf("%q changed the structure of the page", text)
		}
		if !json.Valid([]byte(inside(t, page))) {
			t.Fatalf("%q broke the data", text)
		}
	})
}

// The bundle must not end its own element, nor hold what only data may.
func TestBundleIsInert(t *testing.T) {
	for _, name := range []string{"prony.js", "prony.css"} {
		b, err := os.ReadFile(filepath.Join("dist", name))
		if err != nil {
			t.Fatal(err)
		}
		lower := strings.ToLower(string(b))
		for _, bad := range []string{"</script", "</style", "<!--", "sourcemappingurl", "eval(", "new function(", "innerhtml=\"<script", "import("} {
			if strings.Contains(lower, bad) {
				t.Errorf("%s holds %q", name, bad)
			}
		}
	}
}

func TestReportRefuses(t *testing.T) {
	r, e := fixtureRun(made{seconds: 1, rate: 10, typical: time.Millisecond, connections: 1, instances: 1}), fixtureScaling().Experiment
	for name, doc := range map[string]web.Document{"nothing": {}, "both": {Run: &r, Experiment: e}} {
		if err := web.Report(&bytes.Buffer{}, doc); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if err := web.Report(fullDisk{}, web.Document{Run: &r}); !errors.Is(err, errFull) {
		t.Errorf("got %v, want the writer's error", err)
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// Without a script the verdict is still there.
func TestVerdictWithoutScript(t *testing.T) {
	for name, want := range map[string]string{"run-suspect": "Verdict: suspect.", "run-invalid": "Verdict: invalid.", "experiment": "24 trials: 16 valid, 6 suspect, 1 invalid, 1 failed."} {
		_, rest, _ := strings.Cut(render(t, fixtures()[name]()), "<noscript>")
		if text, _, _ := strings.Cut(rest, "</noscript>"); !strings.Contains(text, want) {
			t.Errorf("%s: got %q, want %q in it", name, text, want)
		}
	}
}

// known is one histogram with what Go says of it; the decoder in TypeScript must
// say the same.
type known struct {
	Name   string           `json:"name"`
	HDR    string           `json:"hdr"`
	Count  int64            `json:"count"`
	Values map[string]int64 `json:"values"`
}

// TestDecoderAnswers keeps the known answers for the decoder of the page.
func TestDecoderAnswers(t *testing.T) {
	var all []known
	for _, c := range []struct {
		name   string
		config hdr.Config
		values []int64
	}{
		{"one value", hdr.Config{}, []int64{1}},
		{"small values", hdr.Config{}, []int64{1, 2, 3, 1000, 2047, 2048, 2049}},
		{"milliseconds", hdr.Config{}, []int64{1_234_567, 1_234_568, 9_999_999, 25_000_000, 25_000_000, 703_947_747}},
		{"up to an hour", hdr.Config{}, []int64{5, 3_599_999_999_999}},
		{"two digits", hdr.Config{Digits: 2}, []int64{17, 400, 512, 70_000, 1 << 40}},
		{"coarse unit", hdr.Config{Lowest: 1000, Highest: 60_000_000_000}, []int64{999, 1000, 5_000_000, 59_000_000_000}},
		{"five digits", hdr.Config{Digits: 5, Highest: 1 << 32}, []int64{123_456, 123_457, 4_000_000_000}},
	} {
		h, err := hdr.New(c.config)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range c.values {
			h.RecordN(v, int64(1+i*i*997))
		}
		h, err = hdr.DecodeBase64(h.Base64()) // without the exact extremes, as the page has it
		if err != nil {
			t.Fatal(err)
		}
		k := known{c.name, h.Base64(), h.Count(), map[string]int64{}}
		for text, q := range map[string]hdr.Quantile{"0": 0, "0.5": hdr.P50, "0.9": hdr.P90, "0.99": hdr.P99, "0.9999": hdr.P9999, "1": hdr.P100} {
			k.Values[text] = h.Value(q)
		}
		all = append(all, k)
	}
	b, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "hdr.json", string(b)+"\n")
}
