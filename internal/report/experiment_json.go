package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"prony/internal/result"
)

var errNoPlace = errors.New("no place for the trials")

// ExperimentJSON writes all results of an experiment, indented. Trials are got
// one after the other, so that hundreds of them need no more memory than one;
// one that cannot be got is written as it is in e.
func ExperimentJSON(w io.Writer, e *result.Experiment, get func(number int) (result.Trial, error)) error {
	head := *e
	head.Trials = nil
	text, err := indented(head, "")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	before, after, found := bytes.Cut(text, []byte(`"trials": null`))
	if !found {
		return fmt.Errorf("write JSON: %w", errNoPlace)
	}
	if err := writeAll(w, before, []byte(`"trials": [`)); err != nil {
		return err
	}
	for i, t := range e.Trials {
		if whole, err := get(t.Number); err == nil {
			whole.Validity, whole.Bottleneck = t.Validity, t.Bottleneck // other trials may have told more
			t = whole
		}
		text, err := indented(t, "    ")
		if err != nil {
			return fmt.Errorf("write JSON: trial %d: %w", t.Number, err)
		}
		between := ",\n    "
		if i == 0 {
			between = between[1:]
		}
		if err := writeAll(w, []byte(between), text); err != nil {
			return err
		}
	}
	return writeAll(w, []byte("\n  ]"), after, []byte("\n"))
}

func indented(v any, prefix string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent(prefix, "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func writeAll(w io.Writer, parts ...[]byte) error {
	for _, b := range parts {
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
	}
	return nil
}
