package web

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"prony/internal/result"
)

// MostBytes is the size that a report stays under, as far as leaving out detail
// can achieve it: about 1,500 trials of a few seconds.
const MostBytes = 5_000_000

//go:embed dist/prony.js
var script string

//go:embed dist/prony.css
var style string

// Document is what a report shows: one run or one experiment, with what is known
// about it beyond the measured. Only Run or Experiment is required, and exactly
// one of them.
type Document struct {
	Run        *result.Run
	Experiment *result.Experiment

	// Made is when the report was made; zero leaves it out.
	Made time.Time
	// Version of Prony that made it.
	Version string
	// Advice says what would make the number more trustworthy.
	Advice []string
	// Goals are those over several variants, such as scaling(instances) > 0.7.
	Goals []result.Expectation
	// Comparisons with the baseline, and fits of how rate grows with an axis.
	Comparisons []Comparison
	Fits        []Fit
	// Source is the experiment file as it was written, without secrets.
	Source Source
	// Command repeats the measurement; "" takes the run's own.
	Command string
	// Docs is the http or https address of the folder that explains the rules
	// (docs/findings); "" names the file without a link.
	Docs string
}

// Source is a file as it was written.
type Source struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Comparison is one metric of a variant against the baseline.
type Comparison struct {
	Metric   string `json:"metric"` // "rate", "p99", …
	Variant  string `json:"variant"`
	Baseline string `json:"baseline"`
	// Verdict in words: better, worse, equivalent, small change, cannot tell.
	Verdict string `json:"verdict"`
	// Better is which way is: "higher" or "lower".
	Better string `json:"better,omitempty"`
	// Ratio of the variant to the baseline with its interval; zero bounds are
	// unknown.
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low,omitempty"`
	High  float64 `json:"high,omitempty"`
	// Margin within which the two count as the same, 0 to 1.
	Margin float64  `json:"margin,omitempty"`
	P      *float64 `json:"p,omitempty"`
	Test   string   `json:"test,omitempty"`
	Pairs  int      `json:"pairs,omitempty"`
	// Ratios are those of each pair, in the order of the blocks; empty where
	// trials are not compared in pairs.
	Ratios []float64 `json:"ratios,omitempty"`
	// Trials of each side that count.
	TrialsA int `json:"trials_a,omitempty"`
	TrialsB int `json:"trials_b,omitempty"`
	// Needed is about how many pairs, or trials of each side, would tell in all,
	// where these cannot.
	Needed int    `json:"needed,omitempty"`
	Note   string `json:"note,omitempty"`
}

// Fit is a Universal Scalability Law over an axis (Gunther 2007):
// X(N) = γN / (1 + α(N-1) + βN(N-1)). Group names the other axes' values, as
// "a=1, b=2", where there are any.
type Fit struct {
	Axis   string  `json:"axis"`
	Group  string  `json:"group,omitempty"`
	Alpha  float64 `json:"alpha"`
	Beta   float64 `json:"beta"`
	Gamma  float64 `json:"gamma"`
	PeakAt float64 `json:"peak_at,omitempty"`
	Note   string  `json:"note,omitempty"`
}

// Report writes the document as one HTML file. It fails on a document without a
// result and on what cannot be written or encoded.
func Report(w io.Writer, doc Document) error {
	data, err := encode(doc, MostBytes-len(script)-len(style)-8192)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	b := bufio.NewWriter(w)
	for _, part := range []string{head(doc), body(doc), string(data), tail()} {
		_, _ = b.WriteString(part) // the first error stays, and Flush reports it
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// policy allows the two parts of this page by their hashes, and nothing else.
// blob: is where a saved file comes from.
func policy() string {
	return "default-src 'none'; script-src 'sha256-" + digest(script) + "'; style-src 'sha256-" + digest(style) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
}

// digest is that of an element's text as a browser computes it.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func head(doc Document) string {
	return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy() + "\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
		"<meta name=\"referrer\" content=\"no-referrer\">\n" +
		"<meta name=\"generator\" content=\"" + text(strings.TrimSpace("Prony "+doc.Version)) + "\">\n" +
		"<link rel=\"icon\" href=\"data:,\">\n" +
		"<title>" + text(title(doc)) + "</title>\n<style>" + style + "</style>\n</head>\n"
}

// body holds the place of the page, and the result in a line for who runs no
// scripts.
func body(doc Document) string {
	return "<body>\n<div id=\"page\"><noscript><h1>" + text(title(doc)) + "</h1><p>" + text(summary(doc)) +
		"</p><p>This report draws itself with a script, which is part of this file; it asks nothing of any server.</p></noscript></div>\n" +
		"<script type=\"application/json\" id=\"prony-data\">"
}

func tail() string { return "</script>\n<script>" + script + "</script>\n</body>\n</html>\n" }

// text escapes for elements and attributes, and drops what no text needs.
func text(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

// title is the question, the name or what was asked for.
func title(doc Document) string {
	name := "A load"
	switch {
	case doc.Experiment != nil && doc.Experiment.Plan != nil && doc.Experiment.Plan.Question != "":
		name = doc.Experiment.Plan.Question
	case doc.Experiment != nil && doc.Experiment.Plan != nil && doc.Experiment.Plan.Name != "":
		name = doc.Experiment.Plan.Name
	case doc.Run != nil && doc.Run.Plan != nil && doc.Run.Plan.Name != "":
		name = doc.Run.Plan.Name
	case doc.Run != nil && doc.Run.Plan != nil && len(doc.Run.Plan.Load.Requests) > 0:
		q := doc.Run.Plan.Load.Requests[0]
		name = q.Method + " " + q.URL
	}
	return name + " · Prony"
}

// summary is the verdict and the number, without the script. The verdict is
// never left out.
func summary(doc Document) string {
	if r := doc.Run; r != nil {
		return fmt.Sprintf("Verdict: %s. %.0f requests/s. %s", r.Validity.Verdict, r.Load.Rate, limiter(r))
	}
	counts := map[result.Verdict]int{}
	failed := 0
	for _, t := range doc.Experiment.Trials {
		if t.Error != "" {
			failed++
			continue
		}
		counts[t.Validity.Verdict]++
	}
	return fmt.Sprintf("%d trials: %d valid, %d suspect, %d invalid, %d failed.", len(doc.Experiment.Trials),
		counts[result.Valid], counts[result.Suspect], counts[result.Invalid], failed)
}

func limiter(r *result.Run) string {
	if r.Bottleneck == nil {
		return "The limit was not identified."
	}
	return "Limited by " + r.Bottleneck.Message + "."
}

// page is the JSON inside the file; web/src/data/types.ts reads it.
type page struct {
	Page        int                  `json:"page"` // version of this form
	Made        *time.Time           `json:"made,omitempty"`
	Version     string               `json:"version,omitempty"`
	Run         json.RawMessage      `json:"run,omitempty"`
	Experiment  *experimentView      `json:"experiment,omitempty"`
	Advice      []string             `json:"advice,omitempty"`
	Goals       []result.Expectation `json:"goals,omitempty"`
	Comparisons []Comparison         `json:"comparisons,omitempty"`
	Fits        []Fit                `json:"fits,omitempty"`
	Source      *Source              `json:"source,omitempty"`
	Command     string               `json:"command,omitempty"`
	Docs        string               `json:"docs,omitempty"`
	LeftOut     []string             `json:"left_out,omitempty"`
}

// encode writes the document's JSON, within so many bytes as far as possible.
// The encoder escapes <, >, & and the two line separators of JavaScript, so
// that no text can end the element that holds it.
func encode(doc Document, most int) ([]byte, error) {
	if (doc.Run == nil) == (doc.Experiment == nil) {
		return nil, errors.New("a report shows either a run or an experiment")
	}
	p := page{Page: 1, Version: doc.Version, Advice: doc.Advice, Goals: doc.Goals, Comparisons: doc.Comparisons, Fits: doc.Fits,
		Command: doc.Command, Docs: doc.Docs}
	if !doc.Made.IsZero() {
		p.Made = &doc.Made
	}
	if doc.Source.Text != "" {
		p.Source = &doc.Source
	}
	fill, trials := p.ofRun, []result.Trial{}
	if doc.Run != nil {
		trials = append(trials, result.Trial{Run: *doc.Run})
	} else {
		fill, trials = p.ofExperiment(doc.Experiment), doc.Experiment.Trials
	}
	encoded, left, err := fit(trials, most-len(doc.Source.Text)*2)
	if err != nil {
		return nil, err
	}
	p.LeftOut = left
	fill(encoded)
	return json.Marshal(p)
}

func (p *page) ofRun(encoded []json.RawMessage) { p.Run = encoded[0] }

func (p *page) ofExperiment(e *result.Experiment) func([]json.RawMessage) {
	return func(encoded []json.RawMessage) { p.Experiment = viewOf(e, encoded) }
}
