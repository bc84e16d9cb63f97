package proc

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

// The tokeniser works on bytes in place, because strings and bytes.Fields
// would allocate in every reading.

// quoteMax is how much of a bad line an error quotes.
const quoteMax = 80

// cutLine splits off the first line, without its end.
func cutLine(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte{'\n'})
	return line, rest
}

// cutField splits off the first word of a line; word is empty at its end.
func cutField(line []byte) (word, rest []byte) {
	start := 0
	for start < len(line) && blank(line[start]) {
		start++
	}
	end := start
	for end < len(line) && !blank(line[end]) {
		end++
	}
	return line[start:end], line[end:]
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// skipFields drops n words.
func skipFields(line []byte, n int) []byte {
	for range n {
		_, line = cutField(line)
	}
	return line
}

var (
	errNumber   = errors.New("not a whole number")
	errRange    = errors.New("number too large")
	errMissing  = errors.New("a number is missing")
	errNoColumn = errors.New("names and values differ in number")
)

// number reads a word of decimal digits, with a minus sign perhaps.
func number(word []byte) (int64, error) {
	digits, negative := bytes.CutPrefix(word, []byte{'-'})
	if len(digits) == 0 {
		return 0, errNumber
	}
	var n int64
	for _, c := range digits {
		d := int64(c - '0')
		switch {
		case c < '0' || c > '9':
			return 0, errNumber
		case n > (math.MaxInt64-d)/10:
			return 0, errRange
		}
		n = n*10 + d
	}
	if negative {
		n = -n
	}
	return n, nil
}

// numbers reads one word of the line into each target.
func numbers(line []byte, targets ...*int64) (rest []byte, err error) {
	rest = line
	for _, target := range targets {
		var word []byte
		word, rest = cutField(rest)
		if len(word) == 0 {
			return nil, errMissing
		}
		if *target, err = number(word); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// bad quotes the line that could not be read.
func bad(line []byte, err error) error {
	if len(line) > quoteMax {
		line = line[:quoteMax]
	}
	return fmt.Errorf("line %q: %w", line, err)
}

// keyed calls visit with each line of the form "key: value". Lines of another
// form are skipped: they are headings, or the news of a later kernel.
func keyed(text []byte, visit func(key, value []byte) error) error {
	for len(text) > 0 {
		var line []byte
		line, text = cutLine(text)
		key, value, ok := bytes.Cut(line, []byte{':'})
		if !ok {
			continue
		}
		if err := visit(bytes.TrimSpace(key), bytes.TrimSpace(value)); err != nil {
			return bad(line, err)
		}
	}
	return nil
}

// first reads the first word of a value, which may be followed by a unit.
func first(value []byte, into *int64) error {
	_, err := numbers(value, into)
	return err
}
