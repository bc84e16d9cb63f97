package catalog

import (
	"fmt"
	"regexp"
	"strings"
)

// Template is a text with variables and blocks; see the package comment.
type Template struct {
	text  string
	nodes []node
}

// String is the template as it was written.
func (t Template) String() string { return t.text }

// IsZero reports whether nothing was written.
func (t Template) IsZero() bool { return t.text == "" }

// What a node is.
type nodeKind int

const (
	literal nodeKind = iota
	variable
	repeat    // ${upstreams: …}
	condition // ${if …: …}
)

// node is a piece of a template.
type node struct {
	kind   nodeKind
	at     int    // offset in the text
	text   string // a literal; the name of a variable or of a condition's subject
	spread bool   // a variable that becomes words
	value  string // a condition's
	not    bool   // it is !=
	body   []node // a block's
	line   bool   // a block alone on its line
	indent string // of that line
}

// templateError is a mistake at an offset.
type templateError struct {
	at   int
	text string
}

func (e *templateError) Error() string { return e.text }

// Names of parameters, needs and variables.
const namePattern = `[a-z][a-z0-9_-]*`

// The forms that may stand between ${ and }.
var (
	validName     = regexp.MustCompile(`^` + namePattern + `$`)
	variableForm  = regexp.MustCompile(`^(` + namePattern + `)(\.\.\.)?$`)
	repeatForm    = regexp.MustCompile(`(?s)^upstreams: ?(.*)$`)
	conditionForm = regexp.MustCompile(`(?s)^if (` + namePattern + `)(!?=)([^\s:]*): ?(.*)$`)
)

// ParseTemplate reads a template.
func ParseTemplate(text string) (Template, error) {
	p := parser{text: text, lines: true}
	if err := p.parse(); err != nil {
		return Template{}, err
	}
	return Template{text, p.nodes}, nil
}

// parser reads a text, or the text in a block.
type parser struct {
	text  string
	base  int  // offset of the text in the template
	lines bool // blocks may make lines
	at    int
	nodes []node
}

func (p *parser) parse() error {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		next := strings.Index(rest, "${")
		switch {
		case next < 0:
			p.literal(rest)
			p.at = len(p.text)
		case next > 0 && rest[next-1] == '$':
			p.literal(rest[:next-1] + "${")
			p.at += next + 2
		default:
			p.literal(rest[:next])
			p.at += next
			if err := p.brace(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *parser) literal(text string) {
	if text == "" {
		return
	}
	if last := len(p.nodes) - 1; last >= 0 && p.nodes[last].kind == literal {
		p.nodes[last].text += text
		return
	}
	p.nodes = append(p.nodes, node{kind: literal, at: p.base + p.at, text: text})
}

func (p *parser) wrong(format string, args ...any) error {
	return &templateError{p.base + p.at, fmt.Sprintf(format, args...)}
}

// brace reads what begins with ${ here.
func (p *parser) brace() error {
	end := closing(p.text[p.at+2:])
	if end < 0 {
		return p.wrong("${ has no }: close it, or write $${ for the characters themselves")
	}
	content := p.text[p.at+2 : p.at+2+end]
	n, body, err := p.form(content)
	if err != nil {
		return err
	}
	after := p.at + 2 + end + 1
	if n.kind != variable {
		inner := parser{text: body, base: p.base + p.at + 2 + end - len(body)}
		if err := inner.parse(); err != nil {
			return err
		}
		n.body = inner.nodes
		after = p.ownLine(&n, after)
	}
	p.nodes = append(p.nodes, n)
	p.at = after
	return nil
}

// form tells what stands between the braces, and the text of a block.
func (p *parser) form(content string) (n node, body string, err error) {
	n.at = p.base + p.at
	if m := variableForm.FindStringSubmatch(content); m != nil {
		n.kind, n.text, n.spread = variable, m[1], m[2] != ""
		return n, "", nil
	}
	if m := repeatForm.FindStringSubmatch(content); m != nil {
		n.kind = repeat
		return n, m[1], nil
	}
	if m := conditionForm.FindStringSubmatch(content); m != nil {
		n.kind, n.text, n.not, n.value = condition, m[1], m[2] == "!=", m[3]
		return n, m[4], nil
	}
	return n, "", p.wrong("%s is neither ${name} nor a block; write $${ for the characters themselves", quoted("${"+content+"}"))
}

// closing is the offset of the brace that closes a text's beginning, or -1.
func closing(text string) int {
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// ownLine makes a block that is alone on its line take the whole line. It
// returns where the text goes on.
func (p *parser) ownLine(n *node, after int) int {
	begin := strings.LastIndexByte(p.text[:p.at], '\n') + 1
	indent := p.text[begin:p.at]
	tail, _, more := strings.Cut(p.text[after:], "\n")
	if !p.lines || strings.Trim(indent, " \t") != "" || strings.Trim(tail, " \t") != "" || !more {
		return after
	}
	n.line, n.indent = true, indent
	if last := len(p.nodes) - 1; last >= 0 && p.nodes[last].kind == literal {
		p.nodes[last].text = strings.TrimSuffix(p.nodes[last].text, indent)
	}
	return after + len(tail) + 1
}

// quoted bounds what a message repeats.
func quoted(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// walk visits every variable and condition of a template; inside tells whether
// it is in a block for upstreams.
func walk(nodes []node, inside bool, visit func(n node, inside bool)) {
	for _, n := range nodes {
		if n.kind == variable || n.kind == condition || n.kind == repeat {
			visit(n, inside)
		}
		walk(n.body, inside || n.kind == repeat, visit)
	}
}
