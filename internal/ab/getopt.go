package ab

import "strings"

// option is one row of the table of options.
type option struct {
	arg bool // takes an argument
	set func(o *Options, arg string) error
}

// scanner reads options the way apr_getopt does: letters may be bundled, an
// argument may be attached, and the first word that is no option ends the
// options for good. Prony's long options are an addition: to apr_getopt every
// word that begins with "--" is the end of the options.
type scanner struct {
	args  []string
	table map[string]option
	ind   int    // the word being read
	place string // what is left of a bundle
}

// optionError is an option that cannot be read.
type optionError struct {
	text string
	// fatal: an argument is missing, and nothing is left on the line.
	fatal bool
}

func (e *optionError) Error() string { return e.text }

// next returns the next option and its argument; ok is false at the end.
func (s *scanner) next() (name, arg string, ok bool, err error) {
	if s.place == "" {
		if s.ind >= len(s.args) {
			return "", "", false, nil
		}
		word := s.args[s.ind]
		switch {
		case word == "--":
			s.ind++
			return "", "", false, nil
		case strings.HasPrefix(word, "--"):
			return s.long(word)
		case len(word) < 2 || word[0] != '-':
			return "", "", false, nil
		}
		s.place = word[1:]
	}
	return s.short()
}

// short takes one letter off the bundle, and its argument.
func (s *scanner) short() (name, arg string, ok bool, err error) {
	name, s.place = s.place[:1], s.place[1:]
	opt, known := s.table[name]
	if !known {
		if s.place == "" {
			s.ind++
		}
		return "", "", false, &optionError{text: "illegal option -- " + name}
	}
	if opt.arg && s.place == "" {
		s.ind++
		if s.ind >= len(s.args) {
			return "", "", false, &optionError{text: "option requires an argument -- " + name, fatal: true}
		}
		s.place = s.args[s.ind]
	}
	if opt.arg {
		arg, s.place = s.place, ""
	}
	if s.place == "" {
		s.ind++
	}
	return name, arg, true, nil
}

// long reads one of Prony's own options, as --name value or --name=value.
func (s *scanner) long(word string) (name, arg string, ok bool, err error) {
	name, arg, attached := strings.Cut(word, "=")
	s.ind++
	opt, known := s.table[name]
	if !known || attached && !opt.arg {
		return "", "", false, &optionError{text: "illegal option -- " + word[1:]}
	}
	if opt.arg && !attached {
		if s.ind >= len(s.args) {
			return "", "", false, &optionError{text: "option requires an argument -- " + name[1:], fatal: true}
		}
		arg = s.args[s.ind]
		s.ind++
	}
	return name, arg, true, nil
}

// rest is what follows the options.
func (s *scanner) rest() []string { return s.args[min(s.ind, len(s.args)):] }
