package analyse

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/unit"
)

// property is something that should be alike for all that is compared, unless
// it is what the experiment varies.
type property struct {
	name  string
	value string
	axes  []string // paths of the experiment file that set it
}

// parity is rule X6: variants that differ in more than what is varied.
func parity(x experiment) []result.Finding {
	var all []result.Finding
	for i, v := range x.variants {
		if i == 0 {
			continue
		}
		base := x.variants[0]
		theirs := map[string]property{}
		for _, p := range base.properties(x.t) {
			theirs[p.name] = p
		}
		var unlike []string
		for _, p := range v.properties(x.t) {
			q, both := theirs[p.name]
			if both && p.value != q.value && !declared(p, q, v, base) {
				unlike = append(unlike, fmt.Sprintf("%s %s against %s", p.name, orNone(p.value), orNone(q.value)))
			}
		}
		if len(unlike) > 0 {
			all = append(all, result.Finding{Severity: result.SuspectLevel, Confidence: result.Definite, Where: v.name,
				Evidence: figures{"differences": float64(len(unlike))}, Threshold: figures{"differences": 0},
				Message: fmt.Sprintf("%s and %s differ in more than what is varied: %s", v.name, base.name, strings.Join(unlike, "; ")),
				Advice:  "make them alike, or vary it, so that the report names it as what is compared"})
		}
	}
	return all
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// declared reports whether the experiment varies a property: an axis sets it, or
// its value holds that of a variable, which has no path, on both sides.
func declared(p, q property, v, base variant) bool {
	for _, axis := range v.axes(base) {
		for _, path := range p.axes {
			if axis == path || strings.HasPrefix(path, axis+".") || strings.HasPrefix(axis, path+".") {
				return true
			}
		}
		a, b := v.values[axis], base.values[axis]
		if !strings.Contains(axis, ".") && a != "" && b != "" && strings.Contains(p.value, a) && strings.Contains(q.value, b) {
			return true
		}
	}
	return false
}

// properties of a variant, in a fixed order.
func (v variant) properties(t Thresholds) []property {
	p := v.run.Plan
	if p == nil {
		return nil
	}
	all := ofLoad(p.Load)
	for _, s := range p.Services {
		all = append(all, ofService(s)...)
	}
	return append(all, v.measured(t)...)
}

// ofLoad are the properties of the load that decide what is asked of a target.
func ofLoad(l plan.Load) []property {
	var requests []string
	for _, q := range l.Requests {
		headers := make([]string, len(q.Headers))
		for i, h := range q.Headers {
			headers[i] = h.Name + ": " + h.Value
		}
		requests = append(requests, fmt.Sprintf("%s %s %s (%s, body of %d bytes)", q.Method, pathOf(q.URL), q.Proto, strings.Join(headers, ", "), len(q.Body)))
	}
	slices.Sort(requests)
	return []property{
		{"connections", strconv.Itoa(l.Connections), []string{"load.connections"}},
		{"duration", unit.FormatDuration(l.Duration), []string{"load.duration"}},
		{"warm-up", unit.FormatDuration(l.Warmup), []string{"load.warmup"}},
		{"keep-alive", strconv.FormatBool(!l.NoKeepAlive), []string{"load.keepalive", "load.keep_alive"}},
		{"pipeline", strconv.Itoa(l.Pipeline), []string{"load.pipeline"}},
		{"think time", unit.FormatDuration(l.Think.Mean), []string{"load.think"}},
		{"requests", strings.Join(slices.Compact(requests), "; "), []string{"load.path", "load.requests", "load.headers", "load.method", "load.body", "load.target", "load.url"}},
	}
}

// ofService are what a service may use and how it is set up.
func ofService(s plan.Service) []property {
	at := func(what string) string { return what + " of " + s.Name }
	number := func(x float64) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	all := []property{
		{at("instances"), strconv.Itoa(s.Instances), []string{s.Name + ".instances"}},
		{at("CPU limit"), number(s.Limits.CPUs), []string{s.Name + ".limits.cpus"}},
		{at("CPU limit until the warm-up ends"), number(s.Limits.StartupCPUs), []string{s.Name + ".limits.startup_cpus"}},
		{at("number of cores"), number(float64(len(s.Limits.Cores))), []string{s.Name + ".limits.cpuset", s.Name + ".limits.cpus"}},
		{at("memory limit"), number(float64(s.Limits.Memory)), []string{s.Name + ".limits.memory"}},
		{at("limit of processes"), number(float64(s.Limits.PIDs)), []string{s.Name + ".limits.pids"}},
		{at("host"), s.Host, []string{s.Name + ".on"}},
		{at("program"), program(s), software(s.Name)},
		{at("Java options"), javaOptions(s), []string{s.Name + ".env", s.Name + ".process.env", s.Name + ".process.command"}},
	}
	for _, key := range slices.Sorted(maps.Keys(s.Params)) {
		all = append(all, property{at(key), s.Params[key], []string{s.Name + ".params." + key, s.Name + "." + key}})
	}
	if n, ok := s.Env["GOMAXPROCS"]; ok {
		all = append(all, property{at("GOMAXPROCS"), n, []string{s.Name + ".env.GOMAXPROCS", s.Name + ".process.env.GOMAXPROCS"}})
	}
	return all
}

// software are the paths that say what a service runs.
func software(name string) []string {
	return []string{name + ".catalog", name + ".process", name + ".docker", name + ".compose", name + ".url"}
}

func program(s plan.Service) string {
	switch {
	case s.Process != nil:
		return strings.Join(s.Process.Command, " ")
	case s.Docker != nil:
		return strings.Join(append([]string{s.Docker.Image}, s.Docker.Command...), " ")
	case s.Compose != nil:
		return s.Compose.File + " " + s.Compose.Service
	case s.Entry != "":
		return s.Entry
	}
	return s.URL
}

// javaOptions are the options of a Java virtual machine about heap, collector
// and processors, from the command and the environment.
func javaOptions(s plan.Service) string {
	words := strings.Fields(s.Env["JAVA_OPTS"] + " " + s.Env["JAVA_TOOL_OPTIONS"] + " " + s.Env["JDK_JAVA_OPTIONS"])
	if s.Process != nil {
		words = append(words, s.Process.Command...)
	}
	if s.Docker != nil {
		words = append(words, s.Docker.Command...)
	}
	words = slices.DeleteFunc(words, func(w string) bool {
		return !strings.HasPrefix(w, "-Xm") && !strings.HasPrefix(w, "-Xs") && !strings.HasPrefix(w, "-XX:") && w != "-server" && w != "-Xint"
	})
	slices.Sort(words)
	return strings.Join(words, " ")
}

// measured are what a run itself says of limits, heap, versions and machine.
func (v variant) measured(t Thresholds) []property {
	view := newView(v.run, t)
	all := []property{
		{"kernel", v.run.Environment.Kernel, nil}, {"CPU", v.run.Environment.CPUModel, nil},
		{"number of cores here", strconv.Itoa(v.run.Environment.CPUs), nil},
	}
	for _, s := range v.run.Services {
		if s.Instance == 0 && s.Version != "" {
			all = append(all, property{"version of " + s.Name, s.Version, software(s.Name)})
		}
	}
	for _, o := range view.things(result.OfJVM) {
		if heap, ok := view.peak(o, result.HeapMax); ok && o.Instance == 0 {
			name := serviceOf(o)
			all = append(all, property{"largest heap of " + name, unit.FormatSize(heap), []string{name + ".limits.memory", name + ".env", name + ".process", name + ".params"}})
		}
	}
	for _, o := range slices.Concat(view.things(result.OfServer), view.things(result.OfService)) {
		if n := o.Facts["workers"]; n != "" && o.Instance == 0 {
			name := serviceOf(o)
			all = append(all, property{"workers of " + name, n, []string{name + ".limits.cpus", name + ".limits.cpuset", name + ".params.workers", name + ".workers"}})
		}
	}
	return all
}

// sameAnswers is rule E3: variants that answered something else did not do the
// same work. Sizes of bodies, statuses and the protocol forbid the comparison;
// larger headers are a doubt.
func sameAnswers(x experiment) []result.Finding {
	var all []result.Finding
	for i, v := range x.variants {
		// Another program does not say what the answers were.
		if v.run.Load.With != "" || x.variants[0].run.Load.With != "" {
			continue
		}
		if i > 0 && !x.varies(v) {
			all = append(all, x.answersOf(v, x.variants[0])...)
		}
	}
	return all
}

// varies reports whether what is asked differs on purpose.
func (x experiment) varies(v variant) bool {
	find := func(all []property) property {
		for _, p := range all {
			if p.name == "requests" {
				return p
			}
		}
		return property{}
	}
	p, q := find(v.properties(x.t)), find(x.variants[0].properties(x.t))
	return p.value != q.value && declared(p, q, v, x.variants[0])
}

// answersOf compares the answers of a variant with those of the baseline.
func (x experiment) answersOf(v, base variant) []result.Finding {
	var all []result.Finding
	differ := func(severity result.Severity, what string, a, b, limit float64, format func(float64) string) {
		all = append(all, result.Finding{Severity: severity, Confidence: result.Definite, Where: v.name,
			Evidence: figures{"value": a, "baseline": b}, Threshold: figures{"difference": limit},
			Message: fmt.Sprintf("not the same work: %s of %s is %s, of %s %s", what, v.name, format(a), base.name, format(b)),
			Advice:  "compare one answer of each (curl -v); if the difference is what you study, vary it by name"})
	}
	size := func(bytes float64) string { return fmt.Sprintf("%.0f bytes", bytes) }
	a, b := &v.run.Load, &base.run.Load
	if p, q := perAnswer(a, a.BodyBytes), perAnswer(b, b.BodyBytes); math.Abs(p-q) > x.t.BodyBytes && math.Abs(p-q) > x.t.BodyDiffer*min(p, q) {
		differ(result.InvalidLevel, "the body of an answer", p, q, x.t.BodyDiffer, size)
	}
	if p, q := perAnswer(a, a.BytesIn-a.BodyBytes), perAnswer(b, b.BytesIn-b.BodyBytes); min(p, q) > 0 && math.Abs(p-q) > x.t.HeaderDiffer*min(p, q) {
		differ(result.SuspectLevel, "the head of an answer", p, q, x.t.HeaderDiffer, size)
	}
	if class, p, q := mixed(a, b); math.Abs(p-q) > x.t.StatusDiffer {
		differ(result.InvalidLevel, "the share of status "+class, p, q, x.t.StatusDiffer, percent)
	}
	return append(all, x.protocolOf(v, base)...)
}

// protocolOf compares how the answers came.
func (x experiment) protocolOf(v, base variant) []result.Finding {
	said := func(l *result.Load) (version, cipher string) {
		if l.TLS == nil {
			return l.Protocol, ""
		}
		return l.Protocol + " over " + l.TLS.Version, l.TLS.Cipher
	}
	a, cipherA := said(&v.run.Load)
	b, cipherB := said(&base.run.Load)
	if slices.ContainsFunc(v.axes(base), func(axis string) bool { return strings.Contains(axis, "tls") || strings.Contains(axis, "protocol") }) || a == b && cipherA == cipherB {
		return nil
	}
	return []result.Finding{{Severity: result.InvalidLevel, Confidence: result.Definite, Where: v.name,
		Evidence: figures{"same_protocol": 0}, Threshold: figures{"same_protocol": 1},
		Message: fmt.Sprintf("not the same work: %s answers by %s %s, %s by %s %s", v.name, a, cipherA, base.name, b, cipherB),
		Advice:  "give both the same protocol, TLS version and cipher"}}
}

// perAnswer are bytes for each answer of any status.
func perAnswer(l *result.Load, bytes int64) float64 {
	var answers int64
	for _, n := range l.Statuses {
		answers += n
	}
	return ratio(float64(bytes), float64(answers))
}

// mixed is the status whose share differs most between two loads.
func mixed(a, b *result.Load) (status string, p, q float64) {
	total := func(l *result.Load) (n float64) {
		for _, c := range l.Statuses {
			n += float64(c)
		}
		return n
	}
	all := maps.Clone(a.Statuses)
	if all == nil {
		all = map[string]int64{}
	}
	maps.Copy(all, b.Statuses)
	ta, tb := total(a), total(b)
	for _, s := range slices.Sorted(maps.Keys(all)) {
		x, y := ratio(float64(a.Statuses[s]), ta), ratio(float64(b.Statuses[s]), tb)
		if math.Abs(x-y) > math.Abs(p-q) {
			status, p, q = s, x, y
		}
	}
	return status, p, q
}
