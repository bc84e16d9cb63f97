package hdr

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// logMaxUnit divides the maximum column of a log. By convention it turns
// nanoseconds into milliseconds; readers for people use it, programs decode the
// histogram.
const logMaxUnit = 1e6

// logLegend is the line that names the columns.
const logLegend = `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`

// LogWriter writes an interval log (.hlog, format 1.3) that the HdrHistogram
// tools read: a header, then one line per interval and tag.
type LogWriter struct {
	w       io.Writer
	start   time.Time
	started bool
}

// NewLogWriter returns a writer of a log that starts at start. Nothing is
// written before the first [LogWriter.Interval].
func NewLogWriter(w io.Writer, start time.Time) *LogWriter {
	return &LogWriter{w: w, start: start}
}

// Interval writes one histogram for the interval that begins start after the
// start of the log. The tag may be empty; it must not hold commas, spaces or
// line breaks. Times are kept to the millisecond, as the format has it, and a
// length below one is written as one: readers divide by it. It fails on a bad
// tag, a negative time, a log that starts before 1970, or when writing does.
func (l *LogWriter) Interval(tag string, start, length time.Duration, h *Histogram) error {
	if err := checkInterval(tag, start, length); err != nil {
		return fmt.Errorf("write histogram log: %w", err)
	}
	if err := l.header(); err != nil {
		return fmt.Errorf("write histogram log: %w", err)
	}
	if tag != "" {
		tag = "Tag=" + tag + ","
	}
	if length > 0 {
		length = max(length, time.Millisecond)
	}
	_, err := fmt.Fprintf(l.w, "%s%.3f,%.3f,%.3f,%s\n", tag,
		start.Seconds(), length.Seconds(), float64(h.Max())/logMaxUnit, h.Base64())
	if err != nil {
		return fmt.Errorf("write histogram log: %w", err)
	}
	return nil
}

// checkInterval reports what the format cannot hold.
func checkInterval(tag string, start, length time.Duration) error {
	switch {
	case strings.ContainsAny(tag, ", \t\r\n\v\f\u0085\u00a0\u2028\u2029"):
		return fmt.Errorf("tag %q holds a comma, space or line break", tag)
	case start < 0 || length < 0:
		return fmt.Errorf("interval of %v at %v is negative", length, start)
	}
	return nil
}

// header writes the leading lines once. Interval times are offsets, and the
// base time says from where.
func (l *LogWriter) header() error {
	switch {
	case l.started:
		return nil
	case l.start.UnixMilli() < 0:
		return fmt.Errorf("start time %v lies before 1970", l.start)
	}
	seconds := epoch(l.start)
	_, err := fmt.Fprintf(l.w,
		"#[Histogram log format version 1.3]\n"+
			"#[StartTime: %s (seconds since epoch), %s]\n"+
			"#[BaseTime: %s (seconds since epoch)]\n%s\n",
		seconds, l.start.UTC().Format(time.RFC3339), seconds, logLegend)
	l.started = err == nil
	return err
}

// epoch prints t in seconds since 1970 with milliseconds, exactly: a float64
// of today's seconds is too coarse to be cut off twice.
func epoch(t time.Time) string {
	ms := t.UnixMilli()
	return fmt.Sprintf("%d.%03d", ms/1000, ms%1000)
}
