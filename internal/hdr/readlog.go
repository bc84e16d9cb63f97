package hdr

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
)

// maxLogLine bounds the memory that one line can take; a full histogram of
// the default shape needs less than 0.5 MB.
const maxLogLine = 16 << 20

// maxLogSeconds keeps times within what time.Duration can hold.
const maxLogSeconds = 9e9

// relativeAge is how far before the start of the log the first time stamp
// must lie to be taken for an offset, if the log does not name its base: the
// rule of the HdrHistogram log reader.
const relativeAge = 365 * 24 * 3600.0

// LogInterval is one line of an interval log.
type LogInterval struct {
	Tag       string        // empty if the line has none
	Start     time.Time     // when the interval began, to the millisecond
	Length    time.Duration // how long it lasted
	Max       float64       // the maximum column, usually milliseconds
	Histogram *Histogram    // decoded, so its totals are estimates
}

// ReadLog yields the intervals of a log (.hlog) in order. A bad line is
// yielded as an error with its number and reading goes on; a broken stream, or
// a line beyond 16 MiB, ends the sequence with its error. Comments are
// skipped.
func ReadLog(r io.Reader) iter.Seq2[LogInterval, error] {
	return func(yield func(LogInterval, error) bool) {
		var clock logClock
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLogLine)
		for n := 1; lines.Scan(); n++ {
			interval, ok, err := readLogLine(lines.Text(), &clock)
			if err != nil {
				err = fmt.Errorf("read histogram log: line %d: %w", n, err)
			}
			if (ok || err != nil) && !yield(interval, err) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(LogInterval{}, fmt.Errorf("read histogram log: %w", err))
		}
	}
}

// logClock turns the time stamps of a log into absolute time. All its numbers
// are seconds since 1970.
type logClock struct {
	start, base       float64
	hasStart, hasBase bool
}

// absolute returns the time of a stamp. The first stamp settles what the
// header left open.
func (c *logClock) absolute(stamp float64) time.Time {
	if !c.hasStart {
		c.start, c.hasStart = stamp, true
	}
	if !c.hasBase {
		c.hasBase = true
		if stamp < c.start-relativeAge {
			c.base = c.start
		}
	}
	return time.UnixMilli(int64(math.Round((c.base + stamp) * 1000)))
}

// readLogLine reads one line; ok says that it holds an interval.
func readLogLine(line string, clock *logClock) (interval LogInterval, ok bool, err error) {
	line = strings.TrimSuffix(line, "\r")
	if comment, found := strings.CutPrefix(line, "#"); found {
		return interval, false, clock.comment(comment)
	}
	if line == "" || line[0] == '"' { // the legend
		return interval, false, nil
	}
	if tagged, found := strings.CutPrefix(line, "Tag="); found {
		interval.Tag, line, _ = strings.Cut(tagged, ",")
	}
	fields := strings.Split(line, ",")
	if len(fields) != 4 {
		return LogInterval{}, false, fmt.Errorf("%d fields, want start, length, maximum and histogram", len(fields))
	}
	var numbers [3]float64
	for i, limit := range [...]float64{maxLogSeconds, maxLogSeconds, math.MaxFloat64} {
		if numbers[i], err = logNumber(fields[i], limit); err != nil {
			return LogInterval{}, false, err
		}
	}
	if interval.Histogram, err = DecodeBase64(fields[3]); err != nil {
		return LogInterval{}, false, err
	}
	interval.Start = clock.absolute(numbers[0])
	interval.Length = time.Duration(math.Round(numbers[1] * 1e9))
	interval.Max = numbers[2]
	return interval, true, nil
}

// comment takes the start and base time from a comment and ignores the rest.
func (c *logClock) comment(text string) error {
	if value, found := logStamp(text, "[StartTime:"); found {
		seconds, err := logNumber(value, maxLogSeconds)
		c.start, c.hasStart = seconds, err == nil
		return err
	}
	if value, found := logStamp(text, "[BaseTime:"); found {
		seconds, err := logNumber(value, maxLogSeconds)
		c.base, c.hasBase = seconds, err == nil
		return err
	}
	return nil
}

// logStamp returns the word after the label.
func logStamp(text, label string) (string, bool) {
	rest, found := strings.CutPrefix(text, label)
	if !found {
		return "", false
	}
	value, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return value, true
}

// logNumber reads a number from 0 to limit.
func logNumber(s string, limit float64) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("number %.40q: %w", s, errors.Unwrap(err))
	}
	if !(v >= 0 && v <= limit) {
		return 0, fmt.Errorf("number %.40q is out of range", s)
	}
	return v, nil
}
