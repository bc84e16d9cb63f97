package report

import (
	"strings"
	"unicode"
)

// clean makes text of strangers fit for one line: what could steer a terminal,
// reverse the reading order or break a line becomes a blank or goes away, and
// bytes that are no UTF-8 become U+FFFD.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// special are the letters that mean something in Markdown wherever they stand.
const special = "\\`*_[]#|~$"

// esc writes text of strangers as Markdown that shows exactly that text: no
// markup, no HTML, no link, and no @name that would call somebody.
func esc(text string) string {
	var b strings.Builder
	for _, r := range clean(text) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@':
			b.WriteString("@&#8203;") // a blank of no width: nobody is called
		case strings.ContainsRune(special, r):
			b.WriteString("\\" + string(r))
		default:
			b.WriteRune(r)
		}
	}
	linkless := strings.NewReplacer("://", `\://`, "www.", "www&#46;", "WWW.", "WWW&#46;")
	return leadless(linkless.Replace(strings.TrimSpace(b.String())))
}

// leadless guards a text that would mean something at the begin of a line: a
// list, a heading's underline, a rule.
func leadless(text string) string {
	digits := strings.TrimLeft(text, "0123456789")
	if text != "" && strings.ContainsRune("-+=", rune(text[0])) || len(digits) < len(text) && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")) {
		return "&#8203;" + text
	}
	return text
}

// fence is a block of code that shows text as it is, whatever backticks it
// holds. Control characters other than line ends and tabs go away.
func fence(language, text string) string {
	longest, run := 2, 0
	lines := strings.Map(func(r rune) rune {
		if r == '`' {
			run++
		} else {
			run = 0
		}
		longest = max(longest, run)
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD"))
	ticks := strings.Repeat("`", longest+1)
	return ticks + language + "\n" + strings.TrimRight(lines, "\n") + "\n" + ticks
}

// hidden stands for a secret.
const hidden = "***"

// Redact takes secrets out of a command line: values of headers and flags whose
// names say that they are secret, and passwords in URLs.
func Redact(args []string) []string {
	all := make([]string, len(args))
	for i, a := range args {
		flag, value, joined := strings.Cut(a, "=")
		switch {
		case joined && strings.HasPrefix(a, "-"):
			all[i] = flag + "=" + redactValue(flag, value)
		case strings.HasPrefix(a, "-"):
			all[i] = a
		case i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.Contains(args[i-1], "="):
			all[i] = redactValue(args[i-1], a)
		default:
			all[i] = redactURL(a)
		}
	}
	return all
}

// redactValue is the value of a flag without what is secret in it.
func redactValue(flag, value string) string {
	if Secret(flag) || flag == "-A" || flag == "-P" || flag == "-C" { // ab's credentials and cookies
		return hidden
	}
	if name, _, ok := strings.Cut(value, ":"); ok && Secret(name) && !strings.Contains(value, "://") {
		return name + ": " + hidden
	}
	return redactURL(value)
}

// Secret reports whether the name of a header, a flag or a variable says that
// its value is nobody's business.
func Secret(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"authorization", "cookie", "token", "secret", "password", "passwd", "api-key", "apikey", "credential"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// redactURL hides the user part of a URL.
func redactURL(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return text
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		return scheme + "://" + hidden + rest[at:]
	}
	return text
}

// shell writes words as a shell reads them.
func shell(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if a == "" || strings.ContainsFunc(a, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:=,@%+", r)
		}) {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
