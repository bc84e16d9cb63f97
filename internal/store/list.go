package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"prony/internal/result"
)

// Row is a run in a list.
type Row struct {
	ID         RunID          `json:"id"`
	Name       string         `json:"name,omitempty"`
	Tags       []string       `json:"tags,omitempty"`
	Campaign   string         `json:"campaign,omitempty"`
	Number     int            `json:"number,omitempty"` // of the trial in its campaign
	Block      int            `json:"block,omitempty"`
	Experiment string         `json:"experiment"`
	Variant    string         `json:"variant,omitempty"`
	Kind       string         `json:"kind"`
	Version    string         `json:"version"`
	Target     string         `json:"target"`
	Started    time.Time      `json:"started"`
	Verdict    result.Verdict `json:"verdict"`
	// Error says why a trial has no result.
	Error string `json:"error,omitempty"`
	// Reason is the message of the gravest finding that made it suspect or
	// invalid; "" of a valid run.
	Reason     string `json:"reason,omitempty"`
	EndedBy    string `json:"ended_by"`
	Bottleneck string `json:"bottleneck,omitempty"`
	// Baseline says that a baseline rests on it.
	Baseline bool  `json:"baseline,omitempty"`
	Notes    int64 `json:"notes,omitempty"` // how many
	Headline
}

// Filter chooses runs. A zero field takes all.
type Filter struct {
	Experiment string
	Variant    string
	Campaign   string
	Kind       string
	Verdict    result.Verdict
	Tag        string
	Name       string
	// Since and Until bound the start: from Since, before Until.
	Since, Until time.Time
	// Text is looked for in the experiment, variant, target, name, error, bottleneck,
	// notes and the findings' messages, without regard to case (in names and notes
	// on SQLite: of ASCII letters).
	Text string
}

// Page is where in a list, newest first.
type Page struct {
	// Limit is the most runs. Default 50, at most 1000.
	Limit int
	// After is the Next of the page before; "" is the first.
	After string
}

// List is one page of runs.
type List struct {
	Rows []Row `json:"runs"`
	// Total counts the runs that the filter takes, on all pages.
	Total int64 `json:"total"`
	// Next leads to the next page; "" on the last.
	Next string `json:"next,omitempty"`
}

// Bounds of a page.
const (
	pageDefault = 50
	pageMax     = 1000
)

// conditions are what follows WHERE, with its arguments.
type conditions struct {
	terms []string
	args  []any
}

// add takes a condition in which ? is the place of its argument, as often as it
// stands there.
func (c *conditions) add(term string, arg any) {
	c.args = append(c.args, arg)
	c.terms = append(c.terms, strings.ReplaceAll(term, "?", "$"+strconv.Itoa(len(c.args))))
}

func (c *conditions) where() string {
	if len(c.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.terms, " AND ")
}

// textual finds a text in all that a person may remember. Each table is searched
// once, and not once for each run.
const textual = `(r.id IN (SELECT x.run_id FROM words x WHERE x.text LIKE ? ESCAPE '\')
	OR r.id IN (SELECT x.run_id FROM names x WHERE LOWER(x.name) LIKE ? ESCAPE '\')
	OR r.id IN (SELECT x.run_id FROM notes x WHERE LOWER(x.text) LIKE ? ESCAPE '\'))`

func (f Filter) conditions() *conditions {
	c := &conditions{}
	for _, equal := range []struct{ column, value string }{{"experiment", f.Experiment}, {"variant", f.Variant}, {"campaign", f.Campaign},
		{"kind", f.Kind}, {"verdict", string(f.Verdict)}} {
		if equal.value != "" {
			c.add("r."+equal.column+" = ?", brief(equal.value))
		}
	}
	if f.Tag != "" {
		c.add("EXISTS (SELECT 1 FROM tags t WHERE t.run_id = r.id AND t.tag = ?)", clean(f.Tag))
	}
	if f.Name != "" {
		c.add("EXISTS (SELECT 1 FROM names n WHERE n.run_id = r.id AND n.name = ?)", clean(f.Name))
	}
	if !f.Since.IsZero() {
		c.add("r.started >= ?", moment(f.Since))
	}
	if !f.Until.IsZero() {
		c.add("r.started < ?", moment(f.Until))
	}
	if f.Text != "" {
		escaped := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(clean(f.Text)))
		c.add(textual, "%"+escaped+"%")
	}
	return c
}

// rowColumns are what a row is read from, in the order of scanRow.
const rowColumns = `r.id, r.campaign, r.number, r.block, r.experiment, r.variant, r.kind, r.version, r.target, r.started, r.verdict, r.error, r.ended_by,
	r.bottleneck, r.connections, r.duration_us, r.rate, r.offered, r.p50_us, r.p90_us, r.p99_us, r.p999_us, r.max_us, r.errors, r.cpu_us,
	r.rss_bytes, r.generator_us, r.asked, r.completed, r.failed,
	COALESCE((SELECT n.name FROM names n WHERE n.run_id = r.id), ''), (SELECT COUNT(*) FROM notes x WHERE x.run_id = r.id),
	(SELECT COUNT(*) FROM baselines b WHERE b.run_id = r.id),
	COALESCE((SELECT f.message FROM findings f WHERE f.run_id = r.id AND f.severity IN ('invalid', 'suspect')
		ORDER BY CASE f.severity WHEN 'invalid' THEN 0 ELSE 1 END, f.place LIMIT 1), '')`

func scanRow(rows *sql.Rows) (Row, error) {
	var r Row
	var started, baselines int64
	err := rows.Scan(&r.ID, &r.Campaign, &r.Number, &r.Block, &r.Experiment, &r.Variant, &r.Kind, &r.Version, &r.Target, &started, &r.Verdict, &r.Error,
		&r.EndedBy, &r.Bottleneck, &r.Connections, &r.DurationUS, &r.Rate, &r.OfferedRate, &r.P50, &r.P90, &r.P99, &r.P999, &r.Max, &r.Errors,
		&r.CPUPerRequest, &r.ServiceRSS, &r.GeneratorCPU, &r.Asked, &r.Completed, &r.Failed, &r.Name, &r.Notes, &baselines, &r.Reason)
	r.Started, r.Baseline = timeOf(started), baselines > 0
	return r, err
}

// List reads the headlines of one page, newest first. A page is where it was
// even when runs come in between.
func (s *Store) List(ctx context.Context, f Filter, at Page) (List, error) {
	limit := pageDefault
	if at.Limit > 0 {
		limit = min(at.Limit, pageMax)
	}
	c := f.conditions()
	var l List
	err := s.inView(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM runs r`+c.where(), c.args...).Scan(&l.Total); err != nil || l.Total == 0 {
			return errors.Join(err, c.after(at.After))
		}
		if err := c.after(at.After); err != nil {
			return err
		}
		var err error
		l.Rows, err = rowsOf(ctx, tx, c, ` ORDER BY r.started DESC, r.id DESC LIMIT `+strconv.Itoa(limit+1))
		return err
	})
	if err != nil {
		return List{}, fmt.Errorf("list runs: %w", err)
	}
	if len(l.Rows) > limit {
		l.Rows = l.Rows[:limit]
		last := l.Rows[limit-1]
		l.Next = fmt.Sprintf("%d-%s", moment(last.Started), last.ID)
	}
	return l, nil
}

// after adds the condition of the pages that follow.
func (c *conditions) after(cursor string) error {
	if cursor == "" {
		return nil
	}
	// From the right: a moment before 1970 has a minus of its own.
	i := strings.LastIndexByte(cursor, '-')
	started, err := strconv.ParseInt(cursor[:max(i, 0)], 10, 64)
	if i < 0 || err != nil {
		return fmt.Errorf("page %q: %w, take the one that the page before names", cursor, ErrInput)
	}
	c.args = append(c.args, started, clean(cursor[i+1:]))
	n := len(c.args)
	c.terms = append(c.terms, fmt.Sprintf("(r.started, r.id) < ($%d, $%d)", n-1, n))
	return nil
}

// rowsOf reads rows with their tags.
func rowsOf(ctx context.Context, q querier, c *conditions, order string) ([]Row, error) {
	rows, err := collect(ctx, q, scanRow, `SELECT `+rowColumns+` FROM runs r`+c.where()+order, c.args...)
	if err != nil {
		return nil, err
	}
	return rows, addTags(ctx, q, rows)
}

// addTags reads the tags of rows with one query.
func addTags(ctx context.Context, q querier, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	places, args, at := make([]string, len(rows)), make([]any, len(rows)), map[RunID]int{}
	for i := range rows {
		places[i], args[i], at[rows[i].ID] = "$"+strconv.Itoa(i+1), rows[i].ID, i
	}
	type tag struct {
		run RunID
		tag string
	}
	all, err := collect(ctx, q, func(r *sql.Rows) (t tag, err error) { return t, r.Scan(&t.run, &t.tag) },
		`SELECT run_id, tag FROM tags WHERE run_id IN (`+strings.Join(places, ", ")+`) ORDER BY tag`, args...)
	for _, t := range all {
		row := &rows[at[t.run]]
		row.Tags = append(row.Tags, t.tag)
	}
	return err
}

// Row reads the headline of one run. It fails with [ErrNotFound].
func (s *Store) Row(ctx context.Context, id RunID) (Row, error) {
	var c conditions
	c.add("r.id = ?", id)
	rows, err := rowsOf(ctx, s.read, &c, "")
	if err == nil && len(rows) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Row{}, fmt.Errorf("read run %s: %w", id, err)
	}
	return rows[0], nil
}
