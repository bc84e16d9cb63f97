package plan

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"prony/internal/spec"
	"prony/internal/unit"
)

// DryRun prints what an experiment will do, for people: its variants step by
// step with limits and cores, what changes on the hosts and is undone, every
// trial in its order, and how long it takes. The error is the writer's.
func DryRun(w io.Writer, e *Experiment) error {
	p := printer{bufio.NewWriter(w), e}
	p.head()
	for _, v := range e.Variants {
		if i := slices.IndexFunc(e.Trials, func(t Trial) bool { return t.Variant == v.Name }); i >= 0 {
			p.variant(v, e.Trials[i].Plan)
		}
	}
	p.changes()
	p.order()
	p.time()
	if err := p.out.Flush(); err != nil {
		return fmt.Errorf("print the plan: %w", err)
	}
	return nil
}

// printer writes to a buffer, which keeps the first error.
type printer struct {
	out *bufio.Writer
	e   *Experiment
}

func (p printer) line(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

func (p printer) head() {
	e := p.e
	if e.Name != "" {
		p.line("experiment  %s", e.Name)
	}
	if e.Question != "" {
		p.line("question    %s", e.Question)
	}
	if len(e.Variants) > 1 {
		p.line("variants    %d, baseline %s", len(e.Variants), e.Baseline)
	}
	p.line("trials      %d: %s", len(e.Trials), e.Repeat.text())
	p.line("order       %s, seed %d", e.Order, e.Seed)
	if e.Scale != 1 {
		p.line("scale       connections, rates and counts are those of the file times %s", unit.FormatSI(e.Scale))
	}
	for _, text := range e.Fit().Lines() {
		p.line("scale       auto: %s", text)
	}
	for _, h := range e.Hosts {
		cpus := "an unknown number of CPUs"
		if h.CPUs > 0 {
			cpus = plural(float64(h.CPUs), "CPU")
		}
		p.line("host        %s, %s, %s", h.Name, h.URL, cpus)
	}
	for _, x := range e.Expect {
		p.line("expect      %s", x.Text)
	}
	for _, g := range e.Goals {
		p.line("expect      %s", g.Text)
	}
	for _, text := range e.Unjudged {
		p.line("not judged  %s: the flags leave one variant of it", text)
	}
}

func (r Repeat) text() string {
	if r.Detect > 0 {
		return fmt.Sprintf("as many blocks as a difference of %s needs, judged by the noise of the first %d; at most %d blocks",
			unit.FormatPercent(r.Detect), r.Pilot, r.Times)
	}
	if r.Times == 1 {
		return "each variant once, so there will be no intervals"
	}
	return fmt.Sprintf("each variant %d times, in blocks that hold each of them once", r.Times)
}

// variant prints the steps of one variant.
func (p printer) variant(v Variant, plan Plan) {
	p.line("\nvariant %s", v.Name)
	for _, s := range plan.Services {
		p.service(s)
	}
	for _, d := range plan.Cores {
		p.division(d)
	}
	if plan.Warmup != nil {
		p.line("  warm up  %s", strings.TrimPrefix(plan.Warmup.String(), "warm up "))
	}
	for _, l := range append([]Load{plan.Load}, plan.Also...) {
		p.load(l, plan.Capacity)
	}
	for _, s := range slices.Backward(plan.Services) {
		if s.Started() {
			p.line("  stop     %s", s.Name)
		}
	}
	p.line("  takes    %s", plan.Estimate())
}

func (p printer) service(s Service) {
	if !s.Started() {
		p.line("  use      %s: %s, which runs already", s.Name, s.URL)
		return
	}
	where := "here"
	if s.Host != "" {
		where = "on " + s.Host
	}
	times := ""
	if s.Instances > 1 {
		times = fmt.Sprintf("%d × ", s.Instances)
	}
	p.line("  start    %s: %s%s, %s", s.Name, times, s.what(), where)
	if len(s.Upstream) > 0 {
		p.line("           passes requests on to %s", strings.Join(s.Upstream, ", "))
	}
	limits := s.Limits.String()
	switch {
	case limits == "":
		limits = "none"
	case s.Instances > 1:
		limits += " for each instance"
	}
	p.line("           limits: %s", limits)
	within := ""
	if s.Ready.Within > 0 { // else the catalog entry says that, too
		within = ", within " + s.Ready.Within.String()
	}
	p.line("           ready when %s%s", s.Ready.text(), within)
}

// what names the thing that is started.
func (s Service) what() string {
	switch s.Kind {
	case Catalog:
		return "catalog entry " + s.Entry
	case Program:
		return "process " + strings.Join(s.Process.Command, " ")
	case Docker:
		return "container of " + s.Docker.Image
	case Compose:
		return "service " + s.Compose.Service + " of " + s.Compose.File
	}
	return s.URL
}

func (r Ready) text() string {
	switch {
	case r.Path != "":
		return fmt.Sprintf("%s answers %d", r.Path, r.Status)
	case r.Log != "":
		return fmt.Sprintf("its output matches %q", r.Log)
	case r.TCP:
		return "it takes a connection"
	}
	return "the catalog entry says so"
}

func (p printer) division(d Division) {
	where := "here"
	if d.Host != "" {
		where = "on " + d.Host
	}
	if !d.Disjoint {
		var who []string
		for _, s := range d.Shares {
			who = append(who, s.Who)
		}
		p.line("  cores    %s: shared by %s, since %s; the results say so", where, strings.Join(who, ", "), d.Why)
		return
	}
	var parts []string
	for _, s := range d.Shares {
		parts = append(parts, s.Who+" "+spec.Cores(s.Cores).String())
	}
	p.line("  cores    %s: %s; nobody shares one", where, strings.Join(parts, ", "))
}

func (p printer) load(l Load, c *Capacity) {
	name := ""
	if l.Name != "" {
		name = l.Name + ": "
	}
	if c != nil {
		var goals []string
		for _, g := range c.SLO {
			goals = append(goals, g.Text)
		}
		p.line("  search   %sthe highest rate with %s, to %s", name, strings.Join(goals, " and "), unit.FormatPercent(c.Within))
	} else {
		p.line("  load     %s%s, %s%s", name, l.modelText(), l.lengthText(), l.warmupText())
	}
	for i, q := range l.Requests {
		if i == 5 {
			p.line("           and %d more requests", len(l.Requests)-i)
			break
		}
		weight := ""
		if len(l.Requests) > 1 {
			weight = ", weight " + unit.FormatSI(q.Weight)
		}
		p.line("           %s %s%s", q.Method, q.URL, weight)
	}
}

func (l Load) modelText() string {
	if l.Model == Open {
		return fmt.Sprintf("open model, %s arrivals at %s, at most %s connections, %s", l.Arrivals.Process, l.rateText(),
			unit.FormatCount(int64(l.Connections)), plural(float64(l.Threads), "thread"))
	}
	return fmt.Sprintf("closed model, %s connections, %s", unit.FormatCount(int64(l.Connections)), plural(float64(l.Threads), "thread"))
}

func (l Load) rateText() string {
	r := describeRate(l.Arrivals.Segments, l.Warmup)
	var parts []string
	for _, v := range r.Points {
		parts = append(parts, unit.FormatRate(v))
	}
	if len(parts) > 8 {
		parts = append(append(parts[:4:4], "…"), parts[len(parts)-1])
	}
	if r.Ramp {
		return strings.Join(parts, " to ")
	}
	return strings.Join(parts, ", then ")
}

func (l Load) lengthText() string {
	var parts []string
	if l.Duration > 0 {
		parts = append(parts, l.Duration.String())
	}
	if l.Count > 0 {
		parts = append(parts, unit.FormatCount(l.Count)+" requests")
	}
	return strings.Join(parts, " or ")
}

func (l Load) warmupText() string {
	if l.Warmup == 0 {
		return ""
	}
	return fmt.Sprintf(" after a warm-up of %s", l.Warmup)
}

// order lists every trial with the time it begins at.
func (p printer) order() {
	p.line("\ntrials, with the time they begin at")
	var at Estimate
	width := len(strconv.Itoa(len(p.e.Trials)))
	for i, t := range p.e.Trials {
		p.line("  %*d  block %d  %8s  %s", width, i+1, t.Block+1, at.Likely.Round(time.Second), t.Variant)
		at = at.plus(t.Plan.Estimate())
		at.Likely += p.e.Cooldown
	}
}

func (p printer) time() {
	p.line("\nin all      %s", p.e.Estimate())
}

// String is the time for people.
func (e Estimate) String() string {
	text := fmt.Sprintf("about %s, at most %s", e.Likely.Round(time.Second), e.Most.Round(time.Second))
	switch {
	case e.Counted && e.Likely == 0:
		return "as long as the counted requests take"
	case e.Counted:
		text += ", and as long as the counted requests take"
	}
	return text
}

// plural writes a number with its noun.
func plural(n float64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + " " + noun
}
