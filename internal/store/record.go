package store

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
)

// Record is a run as it is handed over and given back.
type Record struct {
	// ID is chosen by Put when it is empty.
	ID RunID
	// Campaign is the experiment's run that the trial belongs to; "" for a load on
	// its own.
	Campaign string
	// Plan is the experiment of the campaign; nil for a load on its own.
	Plan *plan.Experiment
	// Trial is the result. Of a load on its own only its Run is filled.
	Trial result.Trial
	// Logs are what the services wrote, by the name of the instance.
	Logs map[string][]byte
}

// campaignName keeps campaigns from being paths: they name folders of exports.
var campaignName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// check refuses what cannot be kept, such as what an imported file may claim.
func (r *Record) check() error {
	switch {
	case r.Campaign != "" && !campaignName.MatchString(r.Campaign):
		return fmt.Errorf("campaign %q: %w, want letters, digits and . _ -, a letter or digit first", r.Campaign, ErrInput)
	case r.Campaign != "" && r.Trial.Number < 1:
		return fmt.Errorf("trial %d of campaign %s: %w, numbers begin with 1", r.Trial.Number, r.Campaign, ErrInput)
	case r.ID != "" && (len(r.ID) != idLength || strings.Trim(string(r.ID), idLetters) != ""):
		return fmt.Errorf("id %q: %w, want %d of the letters %s", r.ID, ErrInput, idLength, idLetters)
	case r.Trial.Schema != result.Schema && r.Trial.Error == "":
		return fmt.Errorf("result with the schema %q: %w, this Prony keeps %s", r.Trial.Schema, ErrInput, result.Schema)
	}
	return nil
}

// experiment is what the history groups by: the name of the experiment, or of
// the plan, or else the URL that was loaded. A plan that was made from a command
// line is called by its kind, which says nothing.
func (r *Record) experiment() string {
	p := r.Trial.Run.Plan
	switch {
	case r.Plan != nil && r.Plan.Name != "":
		return r.Plan.Name
	case p != nil && p.Name != "" && p.Name != r.Trial.Kind:
		return p.Name
	}
	return target(p)
}

// target is the first URL that a plan loads.
func target(p *plan.Plan) string {
	if p == nil || len(p.Load.Requests) == 0 {
		return ""
	}
	return p.Load.Requests[0].URL
}

// idLetters are digits and letters that are not taken for one another
// (Crockford's base 32). No id can read "last", since there is no l.
const idLetters = "0123456789abcdefghjkmnpqrstvwxyz"

// idLength gives 50 bits: among 100,000 runs two ids meet with a probability of
// 4 in a million, and Put refuses the second.
const idLength = 10

// idOf derives an id: a trial's from its campaign and number, so that a trial
// that is put again is the same run; any other from what was measured.
func idOf(r *Record, digest [sha256.Size]byte) RunID {
	if r.Campaign != "" {
		digest = sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", r.Campaign, r.Trial.Number))
	}
	id := make([]byte, idLength)
	for i := range id {
		id[i] = idLetters[digest[i]%32]
	}
	return RunID(id)
}

// parts are a record as it is written.
type parts struct {
	Record
	digest   string
	document []byte
	watched  [][]byte // one for each of Trial.Observed
	plan     []byte   // nil without an experiment
}

// partsOf makes the parts of a record.
func partsOf(r Record) (*parts, error) {
	whole, err := canonical(&r.Trial)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(whole)
	p := &parts{Record: r, digest: hex.EncodeToString(sum[:])}
	if p.ID == "" {
		p.ID = idOf(&r, sum)
	}
	for i := range r.Trial.Observed {
		b, err := packJSON(&r.Trial.Observed[i])
		if err != nil {
			return nil, fmt.Errorf("encode what was watched of %s %s: %w", r.Trial.Observed[i].Kind, r.Trial.Observed[i].Name, err)
		}
		p.watched = append(p.watched, b)
	}
	rest := r.Trial
	rest.Observed = nil
	if p.document, err = packJSON(&rest); err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	if r.Plan != nil {
		p.plan, err = packJSON(r.Plan)
	}
	return p, err
}

// canonical is the JSON of a trial as it reads once it has been stored: encoded,
// read back and encoded again, so that a run and its copy have one digest.
func canonical(t *result.Trial) ([]byte, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	var again result.Trial
	if err := json.Unmarshal(b, &again); err != nil {
		return nil, fmt.Errorf("read the encoded result: %w", err)
	}
	return json.Marshal(&again)
}

// unpackedMax bounds what a stored blob may unfold to.
const unpackedMax = 1 << 30

func packJSON(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return pack(b), nil
}

func pack(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

func unpack(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, unpackedMax+1))
	if err == nil && len(out) > unpackedMax {
		err = errors.New("it unfolds to more than 1 GiB")
	}
	return out, err
}

func unpackJSON(b []byte, v any) error {
	text, err := unpack(b)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// clean makes text fit for a column: PostgreSQL takes neither bytes that are no
// UTF-8 nor a zero. The document keeps what it was.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// briefMax bounds text that is looked up, in bytes: PostgreSQL takes no more than
// about 2,700 in a row of an index, and a URL may be longer.
const briefMax = 500

// brief is clean text of a bounded length.
func brief(s string) string {
	s = clean(s)
	if len(s) <= briefMax {
		return s
	}
	return strings.ToValidUTF8(s[:briefMax], "") // half a letter at the end goes
}

// moment turns a time into what is stored, timeOf back; 0 is none.
func moment(t time.Time) int64 {
	if y := t.Year(); y < 1700 || y > 2200 { // beyond what 64 bits of nanoseconds hold
		return 0
	}
	return t.UnixNano()
}

func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}
