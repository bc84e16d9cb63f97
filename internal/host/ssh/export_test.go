package ssh

import (
	"bufio"
	"strings"

	"prony/internal/host"
)

// ParseURL reads what a user may name a host by.
func ParseURL(text string) (user, alias string, port int, err error) {
	n, err := parseURL(text)
	return n.user, n.alias, n.port, err
}

// ReadLeader finds the number of a process group in what a host writes.
func ReadLeader(text string) (int, error) {
	return readLeader(bufio.NewReader(strings.NewReader(text)))
}

// Line is a command as it is sent.
func Line(s host.Spec) string { return line(s) }

// NewlineForm is how the receiving side makes the variable that stands for a
// newline.
const NewlineForm = `nl=$(printf "\n_"); nl=${nl%_}; `
