package monitor

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

var errOneNumber = errors.New("want one whole number")

// oneNumber is a file of one number. "max" is [math.MaxInt64].
type oneNumber struct{ n int64 }

// Parse reads the first word.
func (o *oneNumber) Parse(text []byte) error {
	words := bytes.Fields(text)
	if len(words) == 0 {
		return errOneNumber
	}
	if string(words[0]) == "max" {
		o.n = math.MaxInt64
		return nil
	}
	n, err := strconv.ParseInt(string(words[0]), 10, 64)
	if err != nil {
		return errOneNumber
	}
	o.n = n
	return nil
}

// table is a file of lines "name number", as control groups have them.
type table map[string]int64

// Parse reads the lines; those of another form are skipped.
func (t table) Parse(text []byte) error {
	clear(t)
	for line := range bytes.Lines(text) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte{' '})
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			t[string(name)] = n
		}
	}
	return nil
}

// get is a number of the table, absent where there is none.
func (t table) get(name string) int64 {
	if n, ok := t[name]; ok {
		return n
	}
	return absent
}

// absent stands for a counter that could not be read.
const absent = -1

// squeeze makes blanks single and cuts them off at both ends.
func squeeze(b []byte) string { return string(bytes.Join(bytes.Fields(b), []byte{' '})) }
