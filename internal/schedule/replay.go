package schedule

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// MaxReplay is the largest number of times in a replay file: half a gigabyte of
// memory.
const MaxReplay = 1 << 26

// ReadReplay reads planned times, one a line and ascending, as seconds from the
// origin of the load ("1.25") or with a unit ("1250ms"). Empty lines and lines
// that begin with # are skipped. Every mistake is reported with its line, up to
// a bound; a file without a time is one too.
func ReadReplay(r io.Reader) (Arrivals, error) {
	return readReplay(r, MaxReplay)
}

func readReplay(r io.Reader, limit int) (Arrivals, error) {
	f := replayFile{limit: limit}
	lines := bufio.NewScanner(r)
	for lines.Scan() && f.more() {
		f.line++
		f.add(strings.TrimSpace(lines.Text()))
	}
	if err := lines.Err(); err != nil {
		f.errs = append(f.errs, fmt.Errorf("read replay line %d: %w", f.line+1, err))
	}
	if len(f.errs) == 0 && len(f.times) == 0 {
		f.errs = append(f.errs, errors.New("read replay: no times in it"))
	}
	if err := errors.Join(bounded(f.errs)...); err != nil {
		return Arrivals{}, err
	}
	return Replay(f.times), nil
}

// replayFile is what has been read so far.
type replayFile struct {
	limit  int
	line   int
	full   bool
	before int64 // the latest time
	times  []int64
	errs   []error
}

// more reports whether it makes sense to read on.
func (f *replayFile) more() bool {
	return len(f.errs) <= maxMistakes && !f.full
}

// add takes one line.
func (f *replayFile) add(text string) {
	if text == "" || text[0] == '#' {
		return
	}
	at, err := parseReplayTime(text)
	switch {
	case err == nil && at < f.before:
		err = fmt.Errorf("%v is before %v", time.Duration(at), time.Duration(f.before))
	case err == nil && len(f.times) == f.limit:
		f.full = true
		err = fmt.Errorf("more than %d times", f.limit)
	}
	if err != nil {
		f.errs = append(f.errs, fmt.Errorf("read replay line %d: %w", f.line, err))
		return
	}
	f.before = at
	f.times = append(f.times, at)
}

// parseReplayTime reads seconds, or a time with a unit, to nanoseconds.
func parseReplayTime(text string) (int64, error) {
	if strings.ContainsAny(text, "eE") {
		return parseScientific(text)
	}
	withUnit := text
	if last := text[len(text)-1]; last == '.' || last >= '0' && last <= '9' {
		withUnit += "s" // read by the same exact arithmetic, not through a float64
	}
	d, err := time.ParseDuration(withUnit)
	if err != nil || d < 0 {
		return 0, badReplayTime(text)
	}
	return int64(d), nil
}

// parseScientific reads seconds with an exponent, as many programs print small
// numbers.
func parseScientific(text string) (int64, error) {
	seconds, err := strconv.ParseFloat(text, 64)
	nanos := seconds * nanosPerSecond
	if err != nil || strings.ContainsAny(text, "xX_") || !(nanos >= 0 && nanos < forever) {
		return 0, badReplayTime(text)
	}
	return roundHalfUp(nanos), nil
}

func badReplayTime(text string) error {
	return fmt.Errorf("time %q: want seconds from the origin, or a number with a unit, like 1.25 or 1250ms", text)
}
