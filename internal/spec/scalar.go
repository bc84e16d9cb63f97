package spec

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"prony/internal/unit"
)

// read turns the text of a scalar into a value of its kind: string, int64,
// float64, bool, or a type of this package.
func (f *form) read(s string) (any, error) {
	switch f.kind {
	case whole:
		return f.readWhole(s)
	case fraction:
		return readFraction(s)
	case truth:
		return readTruth(s)
	case duration:
		d, err := unit.ParseDuration(s)
		return Duration(d), f.check(int64(d), err)
	case rate:
		return readRate(s)
	case perSecond:
		return positive(unit.ParseRate(s))
	case size:
		n, err := unit.ParseSize(s)
		return Size(n), f.check(n, err)
	case cpus:
		return unit.ParseCPUs(s)
	case percent:
		return positive(unit.ParsePercent(s))
	case cores:
		return readCores(s)
	case address:
		return s, checkURL(s, "http", "https")
	case machine:
		return s, checkURL(s, "ssh")
	case pause:
		return readThink(s)
	case warming:
		return readWarmup(s)
	case factor:
		return readScale(s)
	}
	return s, nil
}

// hint shows what a kind looks like.
func (f *form) hint() string {
	switch f.kind {
	case text:
		return "a text"
	case word:
		return "one of " + strings.Join(f.words, ", ")
	case whole:
		return "a whole number such as 100"
	case fraction:
		return "a number such as 0.5"
	case truth:
		return "true or false"
	case duration:
		return "a duration such as 10s"
	case rate:
		return "a rate such as 500/s"
	case perSecond:
		return "a rate such as 100/s"
	case size:
		return "a size such as 400MiB"
	case cpus:
		return "cores such as 0.2 or 200m"
	case percent:
		return "a percentage such as 3%"
	case cores:
		return "cores such as 0-3,6"
	case address:
		return "a URL such as http://127.0.0.1:8080"
	case machine:
		return "a URL such as ssh://user@address"
	case pause:
		return "a pause such as 100ms or '100ms exponential'"
	case warming:
		return "auto or a duration such as 5s"
	case factor:
		return "auto or a number such as 0.5"
	case fields:
		return "a mapping of header fields, {Accept: text/plain}"
	case object:
		return "a mapping with " + enumerate(f.names(), 6)
	case table:
		return "a mapping of names"
	}
	if f.single {
		return f.each.hint()
	}
	return "a list"
}

// enumerate lists the first few of some names.
func enumerate(names []string, most int) string {
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return strings.Join(names, ", ")
}

// plain reports whether quotes around the value are a mistake: a number or a
// truth that is quoted is a text.
func (f *form) plain(s string) bool {
	return f.kind == whole || f.kind == fraction || f.kind == truth || f.kind == factor && s != "auto"
}

func (f *form) readWhole(s string) (any, error) {
	n, err := unit.ParseCount(s)
	if err == nil && n < f.least {
		return nil, fmt.Errorf("found %d; want at least %d", n, f.least)
	}
	if err == nil && n > math.MaxInt32 && f.least > 1 {
		return nil, fmt.Errorf("found %d; want less", n)
	}
	return n, err
}

// check refuses a zero where it would mean nothing.
func (f *form) check(v int64, err error) error {
	if err == nil && v < f.least {
		return fmt.Errorf("found 0; want %s", f.hint())
	}
	return err
}

func readFraction(s string) (any, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) || strings.ContainsAny(s, "xXpP_") {
		return nil, fmt.Errorf("found %s; want a number above 0, such as 0.5", shorten(s))
	}
	return v, nil
}

func readTruth(s string) (any, error) {
	switch strings.ToLower(s) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "yes", "on", "y":
		return nil, fmt.Errorf("found %q; did you mean true? want true or false", s)
	case "no", "off", "n":
		return nil, fmt.Errorf("found %q; did you mean false? want true or false", s)
	}
	return nil, fmt.Errorf("found %s; want true or false", shorten(s))
}

// positive refuses a zero that would mean "not at all".
func positive(v float64, err error) (float64, error) {
	if err == nil && v == 0 {
		return 0, errors.New("found 0; want more than 0")
	}
	return v, err
}

// maxSteps bounds the steps of a rate.
const maxSteps = 1000

// readRate reads a flat rate, a ramp a..b or steps a,b,c. The time unit of the
// last number is that of those without one.
func readRate(s string) (any, error) {
	if strings.HasPrefix(s, "@") {
		return nil, errors.New("planned times from a file are not taken here; use prony load --rate @FILE")
	}
	separator := ","
	ramp := strings.Contains(s, "..")
	if ramp {
		separator = ".."
	}
	parts := strings.Split(s, separator)
	if ramp && len(parts) != 2 || len(parts) > maxSteps {
		return nil, fmt.Errorf("rate %s: want a flat rate 500/s, a ramp 100..500/s or steps 100,200,400/s", shorten(s))
	}
	_, per, _ := strings.Cut(parts[len(parts)-1], "/")
	r := Rate{Ramp: ramp}
	for _, part := range parts {
		if per != "" && !strings.Contains(part, "/") {
			part += "/" + per
		}
		v, err := unit.ParseRate(strings.TrimSpace(part))
		if err == nil && (v > 1e9 || v == 0 && len(parts) == 1) {
			err = fmt.Errorf("rate %s: want above 0, at most 1G/s", shorten(part))
		}
		if err != nil {
			return nil, err
		}
		r.Points = append(r.Points, v)
	}
	if slices.Max(r.Points) == 0 {
		return nil, errors.New("every rate is 0; nothing would ever be sent")
	}
	return r, nil
}

// maxCore bounds the number of a core; Linux knows at most 8192.
const maxCore = 8191

func readCores(s string) (any, error) {
	bad := func(part string) error {
		return fmt.Errorf("found %s; want cores such as 0-3,6", shorten(part))
	}
	var c Cores
	for part := range strings.SplitSeq(s, ",") {
		low, high, ranged := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.ParseUint(low, 10, 16)
		to := from
		if err == nil && ranged {
			to, err = strconv.ParseUint(high, 10, 16)
		}
		if err != nil || to < from || to > maxCore {
			return nil, bad(part)
		}
		for i := from; i <= to; i++ {
			c = append(c, int(i))
		}
	}
	slices.Sort(c)
	return slices.Compact(c), nil
}

func checkURL(s string, schemes ...string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return fmt.Errorf("found %s, which is no URL; want %s", shorten(s), schemes[0]+"://host:port")
	case !slices.Contains(schemes, u.Scheme):
		return fmt.Errorf("found %s; want %s:// in front", shorten(s), strings.Join(schemes, ":// or "))
	case u.Hostname() == "":
		return fmt.Errorf("found %s; no host in it", shorten(s))
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("found %s; want no query, paths and queries belong to the requests of the load", shorten(s))
	case u.Scheme == "ssh" && strings.Trim(u.Path, "/") != "":
		return fmt.Errorf("found %s; want no path behind the host", shorten(s))
	case u.User != nil && u.Scheme != "ssh":
		return fmt.Errorf("found a name before the host; send credentials as a header")
	case hasPassword(u):
		return errors.New("a password has no place in a file; use a key, or ssh's own configuration")
	case u.Port() != "":
		if p, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || p == 0 {
			return fmt.Errorf("found port %s; want 1 to 65535", u.Port())
		}
	}
	return nil
}

func hasPassword(u *url.URL) bool {
	if u.User == nil {
		return false
	}
	_, has := u.User.Password()
	return has
}

func readThink(s string) (any, error) {
	mean, rest, _ := strings.Cut(strings.TrimSpace(s), " ")
	d, err := unit.ParseDuration(mean)
	if err != nil {
		return nil, err
	}
	rest = strings.TrimSpace(rest)
	known := []string{"constant", "exponential", "uniform"}
	if rest != "" && !slices.Contains(known, rest) {
		return nil, fmt.Errorf("found %s behind the time; want %s", shorten(rest), strings.Join(known, ", "))
	}
	if d > math.MaxInt64/4 {
		return nil, fmt.Errorf("found %s; want less", shorten(s))
	}
	return Think{Mean: d, Distribution: rest}, nil
}

func readWarmup(s string) (any, error) {
	if s == "auto" {
		return Warmup{Auto: true}, nil
	}
	d, err := unit.ParseDuration(s)
	if err != nil {
		return nil, fmt.Errorf("%w; or write auto", err)
	}
	return Warmup{Time: time.Duration(d)}, nil
}

func readScale(s string) (any, error) {
	if s == "auto" {
		return Scale{Auto: true}, nil
	}
	v, err := readFraction(s)
	if err != nil {
		return nil, fmt.Errorf("%w; or write auto", err)
	}
	return Scale{Factor: v.(float64)}, nil
}
