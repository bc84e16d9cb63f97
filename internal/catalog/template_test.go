package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"prony/internal/catalog"
)

// values are what the templates of these tests see.
func values() map[string]string {
	return map[string]string{"port": "8080", "keepalive": "on", "empty": "", "opts": "-Xmx4g  -Xms1g", "dir": "/a b/'c'"}
}

func parse(t *testing.T, text string) catalog.Template {
	t.Helper()
	parsed, err := catalog.ParseTemplate(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestFillTemplate(t *testing.T) {
	two := []string{"10.0.0.1:80", "10.0.0.2:80"}
	cases := map[string]struct {
		text      string
		upstreams []string
		want      string
	}{
		"no variable":            {"events { }\n", nil, "events { }\n"},
		"a variable":             {"listen ${port};", nil, "listen 8080;"},
		"nginx's own variables":  {"Host $host:$server_port;", nil, "Host $host:$server_port;"},
		"the characters":         {"a $${port} b $$ c", nil, "a ${port} b $$ c"},
		"inline block":           {"x${upstreams:  ${address}}y", two, "x 10.0.0.1:80 10.0.0.2:80y"},
		"line block":             {"{\n\t${upstreams: server ${address};}\n}\n", two, "{\n\tserver 10.0.0.1:80;\n\tserver 10.0.0.2:80;\n}\n"},
		"line block of none":     {"{\n\t${upstreams: server ${address};}\n}\n", nil, "{\n}\n"},
		"index":                  {"${upstreams: s${index} }", two, "s1 s2 "},
		"condition met":          {"a\n  ${if keepalive=on: keepalive 32;}\nb", nil, "a\n  keepalive 32;\nb"},
		"condition not met":      {"a\n  ${if keepalive=off: keepalive 32;}\nb", nil, "a\nb"},
		"negated":                {"[${if keepalive!=off: yes}${if keepalive!=on: no}]", nil, "[yes]"},
		"of an empty value":      {"[${if empty=: none}]", nil, "[none]"},
		"condition in a block":   {"${upstreams: <${if keepalive=on: ${address}}>}", two, "<10.0.0.1:80><10.0.0.2:80>"},
		"variable in a block":    {"${upstreams: ${address}/${port} }", two[:1], "10.0.0.1:80/8080 "},
		"braces in a block":      {"${if keepalive=on: server { x; }}", nil, "server { x; }"},
		"two blocks on one line": {"${if keepalive=on: a} ${if keepalive=on: b}\n", nil, "a b\n"},
		"last line without end":  {"a\n${if keepalive=off: b}", nil, "a\n"},
		"trailing blanks":        {"a\n${if keepalive=on: b}  \nc", nil, "a\nb\nc"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := catalog.FillTemplate(parse(t, c.text), values(), c.upstreams); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTemplateWords(t *testing.T) {
	cases := map[string]struct {
		text string
		want []string
	}{
		"plain":                   {"a  b\tc\nd", []string{"a", "b", "c", "d"}},
		"quotes":                  {`a 'b c' "d e"f ''`, []string{"a", "b c", "d ef", ""}},
		"backslash":               {`a\ b "c\"d" '\'`, []string{"a b", `c"d`, `\`}},
		"a value is one word":     {"x ${dir}/y", []string{"x", "/a b/'c'/y"}},
		"an empty value counts":   {"x ${empty} y", []string{"x", "", "y"}},
		"spread":                  {"java ${opts...} -jar", []string{"java", "-Xmx4g", "-Xms1g", "-jar"}},
		"spread of nothing":       {"java ${empty...} -jar", []string{"java", "-jar"}},
		"block":                   {"g ${upstreams: --upstream ${address}} z", []string{"g", "--upstream", "a:1", "--upstream", "b:2", "z"}},
		"condition":               {"g ${if keepalive=on: --keep 3} ${if keepalive=off: --none}", []string{"g", "--keep", "3"}},
		"letters beyond ASCII":    {"é ü", []string{"é", "ü"}},
		"a block inside a quote":  {`"${upstreams: ${address},}"`, []string{"a:1,b:2,"}},
		"condition inside a word": {"--k=${if keepalive=on: 1}2", []string{"--k=12"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := catalog.TemplateWords(parse(t, c.text), values(), []string{"a:1", "b:2"})
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, error %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestTemplateMistakes(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"open":         {"a ${port", "${ has no }: close it, or write $${ for the characters themselves"},
		"open block":   {"${if a=b: {", "${ has no }"},
		"shell":        {"${HOME}", `"${HOME}" is neither ${name} nor a block`},
		"no name":      {"${}", `"${}" is neither`},
		"odd block":    {"${backends: x}", `"${backends: x}" is neither`},
		"deep inside":  {"${if a=b: ${X}}", `"${X}" is neither`},
		"no condition": {"${if a: x}", `"${if a: x}" is neither`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := catalog.ParseTemplate(c.text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
	for name, text := range map[string]string{"quote": "a 'b", "nothing": "  ", "nothing but a spread": "${empty...}"} {
		t.Run(name, func(t *testing.T) {
			if got, err := catalog.TemplateWords(parse(t, text), values(), nil); err == nil {
				t.Errorf("got the command %q, want an error", got)
			}
		})
	}
}

func FuzzTemplate(f *testing.F) {
	for _, text := range []string{"${port}", "$${", "a\n ${upstreams: x ${address}}\n", "${if keepalive=on: {}}", "'a ${opts...}'", "${if a!=: b}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := catalog.ParseTemplate(text)
		if err != nil {
			return
		}
		filled := catalog.FillTemplate(parsed, values(), []string{"a:1", "b:2"})
		if !strings.Contains(text, "${") && filled != text {
			t.Errorf("got %q of %q, which has no variable", filled, text)
		}
		words, err := catalog.TemplateWords(parsed, values(), []string{"a:1", "b:2"})
		if err == nil && len(words) == 0 {
			t.Error("a command of no words")
		}
	})
}
