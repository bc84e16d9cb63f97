package spec

import (
	"errors"
	"fmt"
	"strings"
)

// split cuts a command line into words as a shell would: at blanks, with '…',
// "…" and \ to keep them. There is no shell: what only one understands is
// refused instead of being passed on as a word.
func split(line string) ([]string, error) {
	s := splitter{line: line}
	for s.at < len(line) {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	s.end()
	if len(s.words) == 0 {
		return nil, errors.New("an empty command; want a program and its arguments")
	}
	return s.words, nil
}

// splitter is a line under way.
type splitter struct {
	line  string
	at    int
	words []string
	word  strings.Builder
	open  bool // a word has begun, perhaps an empty one in quotes
}

func (s *splitter) end() {
	if s.open {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.open = false
}

func (s *splitter) put(text string) {
	s.word.WriteString(text)
	s.open = true
}

// step takes one character, quoted text or variable.
func (s *splitter) step() error {
	rest := s.line[s.at:]
	switch c := rest[0]; {
	case c == ' ' || c == '\t' || c == '\n':
		s.end()
	case strings.HasPrefix(rest, "${"):
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return errors.New("a variable that does not end; want ${name}")
		}
		s.put(rest[:end+1])
		s.at += end
	case c == '\'' || c == '"':
		end := strings.IndexByte(rest[1:], c)
		if end < 0 {
			return fmt.Errorf("a quote that does not end: %s", shorten(rest))
		}
		s.put(rest[1 : end+1])
		s.at += end + 1
	case c == '\\' && len(rest) > 1:
		s.put(rest[1:2])
		s.at++
	case strings.IndexByte("|&;<>`", c) >= 0:
		return fmt.Errorf("found %q, which needs a shell; write it as a list: [sh, -c, '…']", c)
	default:
		s.put(rest[:1])
	}
	s.at++
	return nil
}
