package script

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// openText replaces tostring and string.format. gopher-lua formats with Go's
// rules, which differ: 17 digits where Lua prints 14, %g without a limit, %q
// and %s by characters.
func (s *state) openText() {
	s.SetGlobal("tostring", s.NewFunction(func(l *lua.LState) int {
		l.Push(lua.LString(display(l, l.CheckAny(1))))
		return 1
	}))
	s.SetField(s.GetGlobal("string"), "format", s.NewFunction(formatText))
}

// numberText prints a number as Lua 5.1 does, with 14 digits.
func numberText(v float64) string {
	if i := int64(v); float64(i) == v && i > -1e14 && i < 1e14 && (i != 0 || !math.Signbit(v)) {
		return strconv.FormatInt(i, 10)
	}
	return floatText("%.14", 'g', v)
}

// floatText formats with C's names for what is no number.
func floatText(flags string, verb byte, v float64) string {
	switch {
	case math.IsNaN(v):
		return padText(flags, "nan")
	case math.IsInf(v, 1):
		return padText(flags, "inf")
	case math.IsInf(v, -1):
		return padText(flags, "-inf")
	}
	return fmt.Sprintf(flags+string(verb), v)
}

// display is tostring(v).
func display(l *lua.LState, v lua.LValue) string {
	switch v := v.(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return numberText(float64(v))
	}
	return l.ToStringMeta(v).String()
}

// formatText is string.format of Lua 5.1.
func formatText(l *lua.LState) int {
	var b strings.Builder
	rest, arg := l.CheckString(1), 1
	for {
		plain, after, found := strings.Cut(rest, "%")
		b.WriteString(plain)
		if !found {
			break
		}
		if strings.HasPrefix(after, "%") {
			b.WriteByte('%')
			rest = after[1:]
			continue
		}
		n := strings.IndexFunc(after, func(r rune) bool { return !strings.ContainsRune("-+ #0123456789.", r) })
		if n < 0 || n > 9 {
			l.RaiseError("invalid format (width or precision too long, or no conversion)")
		}
		arg++
		b.WriteString(formatOne(l, "%"+after[:n], after[n], arg))
		rest = after[n+1:]
	}
	l.Push(lua.LString(b.String()))
	return 1
}

// formatOne formats argument arg by one specification, flags and all.
func formatOne(l *lua.LState, flags string, verb byte, arg int) string {
	switch verb {
	case 'd', 'i':
		return fmt.Sprintf(flags+"d", int64(l.CheckNumber(arg)))
	case 'u':
		return fmt.Sprintf(flags+"d", uint64(int64(l.CheckNumber(arg))))
	case 'o', 'x', 'X':
		return fmt.Sprintf(flags+string(verb), uint64(int64(l.CheckNumber(arg))))
	case 'c':
		return padText(flags, string([]byte{byte(int64(l.CheckNumber(arg)))}))
	case 'e', 'E', 'f', 'g', 'G':
		return formatFloat(flags, verb, float64(l.CheckNumber(arg)))
	case 'q':
		return quoteText(l.CheckString(arg))
	case 's':
		return padText(flags, cutText(flags, display(l, l.CheckAny(arg))))
	}
	l.RaiseError("invalid option '%%%c' to 'format'", verb)
	return ""
}

// formatFloat gives %g and %e C's default precision.
func formatFloat(flags string, verb byte, v float64) string {
	if !strings.Contains(flags, ".") {
		flags += ".6"
	}
	return floatText(flags, verb, v)
}

// cutText applies the precision of a %s, in bytes as C counts it.
func cutText(flags, s string) string {
	_, precision, found := strings.Cut(flags, ".")
	if n, _ := strconv.Atoi(precision); found && n < len(s) {
		return s[:n]
	}
	return s
}

// padText applies the width, in bytes.
func padText(flags, s string) string {
	width, _, _ := strings.Cut(strings.TrimLeft(flags, "%-+ #0"), ".")
	n, _ := strconv.Atoi(width)
	fill := strings.Repeat(" ", max(0, n-len(s)))
	if strings.Contains(flags, "-") {
		return s + fill
	}
	return fill + s
}

// quoteText is %q: a string that Lua reads back.
func quoteText(s string) string {
	escape := strings.NewReplacer("\"", "\\\"", "\\", "\\\\", "\n", "\\\n", "\r", "\\r", "\x00", "\\000")
	return "\"" + escape.Replace(s) + "\""
}
