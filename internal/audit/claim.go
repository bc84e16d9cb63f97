package audit

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"prony/internal/result"
)

// Claim is a conclusion that was drawn from results.
type Claim struct {
	Text string
	A, B string // names of results; B is empty for a limit
	Op   claimOp
	// Amount is by how much: a ratio of the rates, 0 when none is claimed.
	Amount float64
}

// claimOp is what is said of A and B.
type claimOp string

const (
	faster       claimOp = "faster"
	slower       claimOp = "slower"
	equal        claimOp = "equal"
	proportional claimOp = "in proportion"
	limitedBy    claimOp = "limited by cpu"
)

// JudgedClaim is a claim with what the results say to it.
type JudgedClaim struct {
	Text     string          `json:"text"`
	Holds    bool            `json:"holds"`
	Validity result.Validity `json:"validity"`
}

var (
	claimTwo   = regexp.MustCompile(`(?i)^(.+?)\s+(?:is\s+)?(faster than|slower than|beats|>|<|equals|as fast as|in proportion to|(\d+(?:\.\d+)?)\s*times(?: as fast as)?)\s+(.+?)(?:\s+by\s+(\d+(?:\.\d+)?)\s*%)?$`)
	claimLimit = regexp.MustCompile(`(?i)^(.+?)\s+(?:is\s+)?limited by cpu$`)
)

const claimForms = `write "A faster than B", "A slower than B", "A faster than B by 20%", "A 1.5 times B", "A as fast as B", "A in proportion to B" or "A limited by cpu"`

// ParseClaim reads a claim. A and B are ids of results, or a part of what was
// loaded that fits one result only.
func ParseClaim(text string) (Claim, error) {
	c := Claim{Text: text}
	text = strings.TrimSpace(text)
	if m := claimLimit.FindStringSubmatch(text); m != nil {
		c.A, c.Op = m[1], limitedBy
		return c, nil
	}
	m := claimTwo.FindStringSubmatch(text)
	if m == nil {
		return c, fmt.Errorf("claim %q: %s", text, claimForms)
	}
	c.A, c.B = m[1], m[4]
	switch op := strings.ToLower(m[2]); {
	case m[3] != "":
		c.Op = equal
		c.Amount, _ = strconv.ParseFloat(m[3], 64)
	case strings.HasPrefix(op, "slower"), op == "<":
		c.Op = slower
	case strings.HasPrefix(op, "as fast"), op == "equals":
		c.Op, c.Amount = equal, 1
	case strings.HasPrefix(op, "in prop"):
		c.Op = proportional
	default:
		c.Op = faster
	}
	if by, err := strconv.ParseFloat(m[5], 64); err == nil {
		c.Amount = 1 + by/100
		if c.Op == slower {
			c.Amount = 1 - by/100
		}
	}
	return c, nil
}

// Resolve finds the results of a claim; the error says which name fits none or
// several.
func (c Claim) Resolve(all []Block) (a, b *Block, err error) {
	a, err = oneCalled(all, c.A)
	if c.B != "" {
		var e error
		b, e = oneCalled(all, c.B)
		err = errors.Join(err, e)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("claim %q: %w", c.Text, err)
	}
	return a, b, nil
}

// oneCalled finds the one result that a name means: its id, else the only one whose
// label, address or command holds it.
func oneCalled(all []Block, name string) (*Block, error) {
	if b, ok := find(all, name); ok {
		return b, nil
	}
	var fits []*Block
	for i := range all {
		b := &all[i]
		if strings.Contains(strings.ToLower(b.Label+"\n"+b.URL+"\n"+b.Command), strings.ToLower(name)) {
			fits = append(fits, b)
		}
	}
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		return nil, fmt.Errorf("no result is called %q (there are: %s)", name, strings.Join(ids(all), ", "))
	}
	return nil, fmt.Errorf("%q fits %d results: use an id (%s)", name, len(fits), strings.Join(ids(all), ", "))
}

// judge is E14: does the table say what was concluded?
func (c Claim) judge(all []Block, t Thresholds) JudgedClaim {
	j := JudgedClaim{Text: c.Text}
	a, b, err := c.Resolve(all)
	if err != nil {
		j.Validity = result.Validity{Verdict: result.Suspect, Findings: []result.Finding{}, NotRun: []string{"E14 conclusion-contradicts-table: " + err.Error()}}
		return j
	}
	rules := []rule[Claim]{{"E14", "conclusion-contradicts-table", func(c Claim) answer {
		f, missing := c.check(a, b, t)
		if missing != "" {
			return lacks(missing)
		}
		j.Holds = f.Severity == result.Info
		return found(f)
	}}}
	j.Validity = judge(c, rules)
	return j
}

// check compares one claim with the figures.
func (c Claim) check(a, b *Block, t Thresholds) (f result.Finding, missing string) {
	if c.Op == limitedBy {
		return c.checkLimit(a, t)
	}
	ratio := quotient(a.Rate, b.Rate)
	if !ratio.positive() {
		return f, "the rates of both"
	}
	if c.Op == proportional {
		return c.checkProportion(a, b, ratio.V, t)
	}
	evidence := figures{"a_rate": a.Rate.V, "b_rate": b.Rate.V, "ratio": ratio.V}
	limit := figures{"claim_off": t.ClaimOff}
	say := fmt.Sprintf("the table has %s against %s: %s times as much", rate(a.Rate.V), rate(b.Rate.V), trimmed(ratio.V, 2))
	holds := c.Amount == 0 || math.Abs(ratio.V-c.Amount) <= t.ClaimOff*c.Amount
	switch c.Op {
	case faster:
		holds = holds && ratio.V > 1
	case slower:
		holds = holds && ratio.V < 1
	}
	if holds {
		return finding(result.Info, result.Definite, evidence, limit, "", "%s", say), ""
	}
	return finding(result.InvalidLevel, result.Definite, evidence, limit,
		"Correct the sentence, or show the run that it is about.", "the conclusion contradicts the table: %s", say), ""
}

// checkLimit holds "limited by cpu" against the cores that idled.
func (c Claim) checkLimit(a *Block, t Thresholds) (f result.Finding, missing string) {
	used, cores := a.Facts.SystemCPU, a.Facts.Cores
	if !used.Known || !cores.positive() {
		return f, "the CPU of the whole system and its cores (--system-cpu, --cores)"
	}
	idle := (1 - used.V) * cores.V
	evidence := figures{"system_cpu": used.V, "cores": cores.V, "idle_cores": idle}
	say := fmt.Sprintf("%s of %s cores leaves %s idle", percent(used.V), trimmed(cores.V, 1), trimmed(idle, 1))
	if 1-used.V < t.Idle {
		return finding(result.Info, result.Likely, evidence, figures{"idle_share": t.Idle}, "", "%s", say), ""
	}
	return finding(result.InvalidLevel, result.Likely, evidence, figures{"idle_share": t.Idle},
		"Look for a single thread that is full, a pool that is too small, or a lock.",
		"the conclusion contradicts the figures: %s. Something else was the limit", say), ""
}

// checkProportion holds "in proportion" against the cores.
func (c Claim) checkProportion(a, b *Block, ratio float64, t Thresholds) (f result.Finding, missing string) {
	cores := quotient(a.Facts.Cores, b.Facts.Cores)
	if !cores.positive() {
		return f, "the cores of both (--cores)"
	}
	evidence := figures{"rate_ratio": ratio, "cores_ratio": cores.V}
	say := fmt.Sprintf("%s / %s = %s, cores %s / %s = %s", trimmed(a.Rate.V, 2), trimmed(b.Rate.V, 2), trimmed(ratio, 3),
		trimmed(a.Facts.Cores.V, 1), trimmed(b.Facts.Cores.V, 1), trimmed(cores.V, 3))
	if math.Abs(ratio-cores.V) > t.ClaimOff*cores.V {
		return finding(result.InvalidLevel, result.Definite, evidence, figures{"claim_off": t.ClaimOff}, "Correct the sentence.",
			"the conclusion contradicts the table: %s", say), ""
	}
	p := pair{a: view{Block: b}, b: view{Block: a}, t: t, varies: []string{"cores"}}
	if changed := changedMore(p).findings; len(changed) > 0 {
		return finding(result.SuspectLevel, result.Definite, evidence, figures{"claim_off": t.ClaimOff}, changed[0].Advice,
			"the figures fit (%s), but %s", say, changed[0].Message), ""
	}
	return finding(result.Info, result.Definite, evidence, figures{"claim_off": t.ClaimOff}, "", "%s", say), ""
}
