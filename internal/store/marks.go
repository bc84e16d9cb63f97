package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// Note is what somebody wrote about a run.
type Note struct {
	Written time.Time `json:"written"`
	Text    string    `json:"text"`
}

// noteMax bounds a note, in bytes.
const noteMax = 64 << 10

// word is what names and tags look like: one can type them without quotes.
var word = regexp.MustCompile(`^[\pL\pN][\pL\pN._/:=@+-]{0,63}$`)

// checkWord says what is wrong with a name or a tag.
func checkWord(what, s string) error {
	if !utf8.ValidString(s) || !word.MatchString(s) {
		return fmt.Errorf("%s %q: %w, want up to 64 letters, digits and . _ / : = @ + -, a letter or digit first", what, s, ErrInput)
	}
	return nil
}

// Tag adds tags to a run; those it has already are left alone. It fails with
// [ErrNotFound].
func (s *Store) Tag(ctx context.Context, id RunID, tags ...string) error {
	for _, t := range tags {
		if err := checkWord("tag", t); err != nil {
			return err
		}
	}
	return s.mark(ctx, "tag", id, func(tx *sql.Tx) error {
		for _, t := range tags {
			if _, err := tx.ExecContext(ctx, `INSERT INTO tags (run_id, tag) VALUES ($1, $2) ON CONFLICT (run_id, tag) DO NOTHING`, id, t); err != nil {
				return err
			}
		}
		return nil
	})
}

// Untag takes tags away; those it does not have are no mistake.
func (s *Store) Untag(ctx context.Context, id RunID, tags ...string) error {
	return s.mark(ctx, "untag", id, func(tx *sql.Tx) error {
		for _, t := range tags {
			if _, err := tx.ExecContext(ctx, `DELETE FROM tags WHERE run_id = $1 AND tag = $2`, id, t); err != nil {
				return err
			}
		}
		return nil
	})
}

// Name gives a run a name in place of the one it has; "" takes it away. It fails
// with [ErrTaken] if another run has it.
func (s *Store) Name(ctx context.Context, id RunID, name string) error {
	if name != "" {
		if err := checkWord("name", name); err != nil {
			return err
		}
		if strings.EqualFold(name, Last) {
			return fmt.Errorf("name %q: %w, it means the newest run", name, ErrInput)
		}
	}
	return s.mark(ctx, "name", id, func(tx *sql.Tx) error {
		var owner RunID
		err := tx.QueryRowContext(ctx, `SELECT run_id FROM names WHERE name = $1`, name).Scan(&owner)
		if err == nil && owner != id {
			return fmt.Errorf("%w: run %s is called %s", ErrTaken, owner, name)
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM names WHERE run_id = $1`, id); err != nil || name == "" {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO names (name, run_id) VALUES ($1, $2)`, name, id)
		return err
	})
}

// Note adds a note to a run, written at a moment.
func (s *Store) Note(ctx context.Context, id RunID, n Note) error {
	if strings.TrimSpace(n.Text) == "" || len(n.Text) > noteMax {
		return fmt.Errorf("note of %d bytes: %w, want some text, at most %d bytes", len(n.Text), ErrInput, noteMax)
	}
	return s.mark(ctx, "note", id, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO notes (run_id, number, written, text)
			SELECT $1, COALESCE(MAX(number), 0) + 1, $2, $3 FROM notes WHERE run_id = $4`, id, moment(n.Written), clean(n.Text), id)
		return err
	})
}

// Notes are those of a run, in the order they were written.
func (s *Store) Notes(ctx context.Context, id RunID) ([]Note, error) {
	all, err := collect(ctx, s.read, func(rows *sql.Rows) (Note, error) {
		var written int64
		var n Note
		err := rows.Scan(&written, &n.Text)
		n.Written = timeOf(written)
		return n, err
	}, `SELECT written, text FROM notes WHERE run_id = $1 ORDER BY number`, id)
	if err != nil {
		return nil, fmt.Errorf("read notes of run %s: %w", id, err)
	}
	return all, nil
}

// mark changes what people added to a run, which must be there.
func (s *Store) mark(ctx context.Context, doing string, id RunID, do func(*sql.Tx) error) error {
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := one(tx.QueryRowContext(ctx, `SELECT id FROM runs WHERE id = $1`, id)); err != nil {
			return err
		}
		return do(tx)
	})
	if err != nil {
		return fmt.Errorf("%s run %s: %w", doing, id, err)
	}
	return nil
}
