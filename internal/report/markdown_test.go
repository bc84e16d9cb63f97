package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"prony/internal/compare"
	"prony/internal/report"
	"prony/internal/result"
)

// TestKAT53Golden: a report from fixed data has the same bytes whenever it is
// made.
func TestKAT53Golden(t *testing.T) {
	for form, write := range forms() {
		for name := range madeDocuments(t) {
			t.Run(name+"."+form, func(t *testing.T) {
				small := func() report.Document {
					d := madeDocuments(t)[name]
					if form == "om" && d.Experiment != nil { // it is long
						d.Experiment.Trials = d.Experiment.Trials[12:15]
					}
					return d
				}
				got := render(t, write, small())
				if again := render(t, write, small()); got != again {
					t.Error("made twice, it differs")
				}
				golden(t, name+"."+form, got)
			})
		}
	}
}

// TestVerdictIsNeverDropped: whatever the form and the language, the verdict
// and the rule that spoiled it are in there.
func TestVerdictIsNeverDropped(t *testing.T) {
	for form, write := range forms() {
		for _, verdict := range []result.Verdict{result.Valid, result.Suspect, result.Invalid} {
			run := render(t, write, report.Document{Run: madeRun(t, 2000, verdict)})
			e := madeExperiment(t)
			e.Trials = e.Trials[:1]
			e.Trials[0].Validity = madeValidity(verdict)
			for kind, got := range map[string]string{"run": run, "experiment": render(t, write, report.Document{Experiment: e})} {
				if !strings.Contains(strings.ToLower(got), string(verdict)) {
					t.Errorf("%s of a %s does not say %s:\n%s", form, kind, verdict, got)
				}
			}
		}
	}
}

// TestKAT54Completeness: each field that a report must have and does not is
// named.
func TestKAT54Completeness(t *testing.T) {
	tests := map[string]func(*result.Run){
		"plan":              func(r *result.Run) { r.Plan = nil },
		"load model":        func(r *result.Run) { r.Load.Model = "" },
		"protocol":          func(r *result.Run) { r.Load.Protocol = "" },
		"duration":          func(r *result.Run) { r.Load.DurationUS = 0 },
		"response times":    func(r *result.Run) { r.Load.Latency.Response = result.Histogram{} },
		"per-second series": func(r *result.Run) { r.Load.Intervals = nil },
		"generator CPU":     func(r *result.Run) { r.Generator.CPUUS = 0 },
		"system":            func(r *result.Run) { r.Environment.OS = "" },
		"kernel":            func(r *result.Run) { r.Environment.Kernel = "" },
		"processor":         func(r *result.Run) { r.Environment.CPUModel = "" },
		"memory":            func(r *result.Run) { r.Environment.Memory = 0 },
		"version of Prony":  func(r *result.Run) { r.Version = "" },
		"command":           func(r *result.Run) { r.Command = nil },
		"verdict":           func(r *result.Run) { r.Validity.Verdict = "" },
	}
	const says = "Not recorded in this result: "
	if whole := render(t, forms()["en.md"], report.Document{Run: madeRun(t, 1, result.Valid)}); strings.Contains(whole, says) {
		t.Fatalf("of a whole result it says that something is missing:\n%s", whole)
	}
	for name, remove := range tests {
		r := madeRun(t, 1, result.Valid)
		remove(r)
		if got := render(t, forms()["en.md"], report.Document{Run: r}); !strings.Contains(got, says+name+".") {
			t.Errorf("without %s it does not say so", name)
		}
	}
}

// TestKAT56InvalidRuns: an invalid run is in the list, and in no figure.
func TestKAT56InvalidRuns(t *testing.T) {
	got := render(t, forms()["en.md"], report.Document{Experiment: madeExperiment(t)})
	lines := strings.Split(got, "\n")
	for _, line := range lines {
		if strings.Contains(line, "987,654") && !strings.HasPrefix(line, "| 14 | cpus=0.5 | INVALID") {
			t.Errorf("the rate of the invalid trial stands in %q", line)
		}
	}
	if !strings.Contains(got, "| 14 | cpus=0.5 | INVALID | 7 | 987,654") || !strings.Contains(got, "| 15 | cpus=1 | no result: the service did not start") {
		t.Error("the list of all trials lacks the invalid one or the one without a result")
	}
	if !strings.Contains(got, "| cpus=0.5 | 7/8 | ") {
		t.Error("the table does not say that 7 of 8 trials count")
	}
}

// What cannot be told says how many trials it takes, in each language.
func TestTooFewTrials(t *testing.T) {
	e := madeExperiment(t)
	e.Trials = e.Trials[:4]
	c, err := compare.Experiment(e, compare.Options{Gates: []string{"rate"}})
	if err != nil {
		t.Fatal(err)
	}
	for form, want := range map[string]string{"en.md": "**cannot tell** (too few trials: it takes 6 of each variant, and there are 2)",
		"de.md": "**nicht entscheidbar** (zu wenige Messungen: nötig sind 6 je Variante, vorhanden sind 2)",
		"zh.md": "**无法判断** (试验次数太少：每个变体需要 6 次，现有 2 次)", "ja.md": "**判断不能** (試行が足りません：変種ごとに 6 回必要ですが、2 回しかありません)"} {
		if got := render(t, forms()[form], report.Document{Experiment: e, Comparison: c}); !strings.Contains(got, want) {
			t.Errorf("%s: want %q in\n%.700s", form, want, got)
		}
	}
}

// Without a trial that counts the question for the limit is answered too.
func TestNoTrialCounts(t *testing.T) {
	e := madeExperiment(t)
	for i := range e.Trials {
		e.Trials[i].Validity.Verdict = result.Invalid
	}
	got := render(t, forms()["en.md"], report.Document{Experiment: e})
	if want := "**What limits it (why not double?)** What limited the rate was not identified."; !strings.Contains(got, want) {
		t.Errorf("want %q in\n%.700s", want, got)
	}
}

// TestPhrases: every language has every text, with the same figures in it, and
// no text of another language.
func TestPhrases(t *testing.T) {
	verbs := regexp.MustCompile(`%(\[\d\])?[a-z%]`)
	english := report.Phrases(report.English)
	for _, lang := range report.Langs() {
		all := report.Phrases(lang)
		for i, text := range all {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: phrase %d (%q) is missing", lang, i, english[i])
			}
			got, want := map[string]bool{}, map[string]bool{}
			for _, v := range verbs.FindAllString(text, -1) {
				got[v] = true
			}
			for _, v := range verbs.FindAllString(english[i], -1) {
				want[v] = true
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %q has the figures %v, want those of %q: %v", lang, text, got, english[i], want)
			}
			if han := strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }); han != (lang == report.Chinese || lang == report.Japanese) {
				t.Errorf("%s: %q is of another language", lang, text)
			}
		}
	}
	if _, err := report.ParseLang("tlh"); err == nil || !strings.Contains(err.Error(), "en, zh, de, ja") {
		t.Errorf("got %v, want an error that names the languages", err)
	}
}

// hostile is what a stranger may put wherever there is text.
const hostile = "a|b`c`<script>alert(1)</script>\n# head\r\n| x | y |\x1b[2J\x07\u202e[l](http://evil.test) @all www.evil.test \"quoted\" \\ ${x} {{y}} =1+1 \xff]]>&amp;"

// poison puts it into every text of a value.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && v.String() != "" && v.Type() != reflect.TypeFor[result.Severity]() && v.Type() != reflect.TypeFor[report.GateState]() && v.Type() != reflect.TypeFor[report.Lang]() {
			v.SetString(v.String() + hostile)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			poison(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poison(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if v.Type().Elem().Kind() == reflect.String {
				v.SetMapIndex(reflect.ValueOf(k.String()+hostile), reflect.ValueOf(hostile))
			}
		}
	}
}

func poisoned(t *testing.T, name string) report.Document {
	t.Helper()
	d := madeDocuments(t)[name]
	if e := d.Experiment; e != nil {
		for i := range e.Trials { // fixtures share maps
			values := map[string]string{}
			for k, v := range e.Trials[i].Values {
				values[k] = v
			}
			e.Trials[i].Values = values
		}
	}
	poison(reflect.ValueOf(&d).Elem())
	return d
}

// TestHostileContentIsHarmless: text of strangers stays text in every form.
func TestHostileContentIsHarmless(t *testing.T) {
	for form, write := range forms() {
		for name := range madeDocuments(t) {
			t.Run(name+"."+form, func(t *testing.T) {
				got := render(t, write, poisoned(t, name))
				for i, line := range strings.Split(got, "\n") {
					if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' || r == '\u202e' }) {
						t.Fatalf("line %d has control characters: %q", i+1, line)
					}
				}
				switch {
				case strings.HasSuffix(form, ".md"):
					checkMarkdown(t, got)
				case strings.HasSuffix(form, "csv"):
					checkCSV(t, got)
				case form == "xml":
					checkJUnit(t, got)
				}
			})
		}
	}
}

var (
	code     = regexp.MustCompile("(?s)\n(`{3,})[a-z]*\n.*?\n`{3,}\n")
	escaped  = regexp.MustCompile(`\\.`)
	htmlTags = regexp.MustCompile(`</?[a-zA-Z!]`)
)

// checkMarkdown holds the text against what a renderer would take for markup.
func checkMarkdown(t *testing.T, got string) {
	t.Helper()
	text := escaped.ReplaceAllString(code.ReplaceAllString(got, "\n\n"), "")
	for _, tag := range htmlTags.FindAllString(strings.NewReplacer("<details>", "", "</details>", "", "<summary>", "", "</summary>", "").Replace(text), -1) {
		t.Errorf("there is HTML: %q", tag)
	}
	if strings.Contains(text, "](http") || strings.Contains(text, "://") || strings.Contains(text, "www.") || strings.Contains(text, "`") {
		t.Error("a stranger's link or code got through")
	}
	if regexp.MustCompile(`@[a-z]`).MatchString(text) {
		t.Error("somebody would be called by a comment")
	}
	columns := 0
	for i, line := range strings.Split(text, "\n") {
		n := strings.Count(line, "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			columns = 0
			if n > 0 {
				t.Errorf("line %d has a bar outside of a table: %q", i+1, line)
			}
			if regexp.MustCompile(`^#+ head`).MatchString(line) {
				t.Errorf("line %d is a heading of a stranger", i+1)
			}
		case columns == 0:
			columns = n
		case n != columns:
			t.Errorf("line %d has %d bars, the table has %d: %q", i+1, n, columns, line)
		}
	}
}

func checkCSV(t *testing.T, got string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(got)).ReadAll() // refuses rows of other lengths
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 2 {
		t.Fatalf("got %d rows", len(rows))
	}
	number := regexp.MustCompile(`^-?[0-9.]+(e[-+]\d+)?$`)
	for i, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) && !number.MatchString(cell) {
				t.Errorf("row %d has a formula: %q", i+1, cell)
			}
		}
	}
}

// TestMarkdownKeepsSecrets: passwords and headers that are nobody's business do
// not get into a report.
func TestMarkdownKeepsSecrets(t *testing.T) {
	for form, write := range forms() {
		if got := render(t, write, report.Document{Run: madeRun(t, 2000, result.Valid)}); strings.Contains(got, "user:pw") || strings.Contains(got, "Bearer") {
			t.Errorf("%s holds a secret:\n%s", form, got)
		}
	}
	tests := []struct{ in, want []string }{
		{[]string{"prony", "load", "http://u:p@h/x?a=@b", "-c", "3"}, []string{"prony", "load", "http://***@h/x?a=@b", "-c", "3"}},
		{[]string{"-H", "X-Api-Key: 1", "-H", "Accept: a"}, []string{"-H", "X-Api-Key: ***", "-H", "Accept: a"}},
		{[]string{"--header=Cookie: a=b", "-A", "u:p", "--token", "x"}, []string{"--header=Cookie: ***", "-A", "***", "--token", "***"}},
	}
	for _, tt := range tests {
		if got := report.Redact(tt.in); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestCommentIsShort: a comment holds the gates and what differs, not the rest.
func TestCommentIsShort(t *testing.T) {
	got := render(t, forms()["comment.md"], madeDocuments(t)["experiment"])
	for _, want := range []string{"**INVALID**", "1 of 3 gates failed", "**rate**", "generator-cpu", "the service did not start"} {
		if !strings.Contains(got, want) {
			t.Errorf("the comment lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "Environment") || strings.Contains(got, "| p50 |") || len(got) > 4000 {
		t.Errorf("got %d bytes:\n%s", len(got), got)
	}
	d := madeDocuments(t)["experiment"]
	d.Experiment = nil
	if got := render(t, forms()["comment.md"], d); !strings.Contains(got, "**rate**") {
		t.Errorf("a comparison alone gives:\n%s", got)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("full")

// TestFacesReportErrors: a disk that is full is told, and no document is none.
func TestFacesReportErrors(t *testing.T) {
	for name, write := range map[string]func(io.Writer, report.Document) error{"markdown": report.Markdown, "comment": report.Comment, "csv": report.CSV,
		"series": report.SeriesCSV, "junit": report.JUnit, "openmetrics": report.OpenMetrics} {
		if err := write(full{}, madeDocuments(t)["run"]); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v, want the writer's error", name, err)
		}
		if err := write(&bytes.Buffer{}, report.Document{}); err == nil {
			t.Errorf("%s: an empty document is written", name)
		}
	}
	if err := report.Gatling(full{}, madeRun(t, 1, result.Valid), report.GatlingColumns); !errors.Is(err, errFull) {
		t.Errorf("gatling: got %v", err)
	}
}

// TestUnjudgedIsSaid: what was never judged is not taken for valid.
func TestUnjudgedIsSaid(t *testing.T) {
	got := render(t, forms()["en.md"], report.Document{Run: madeRun(t, 1, "")})
	if !strings.Contains(got, "NOT JUDGED") {
		t.Errorf("got:\n%s", got)
	}
}

// checkJUnit is in junit_test.go; this keeps the decoder honest.
func TestXMLEscapes(t *testing.T) {
	d := poisoned(t, "run")
	var any struct {
		Suites []struct {
			Name string `xml:"name,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(render(t, forms()["xml"], d)), &any); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(any.Suites[0].Name, "<script>alert(1)</script>") {
		t.Errorf("got %q, want the text as it was", any.Suites[0].Name)
	}
}
