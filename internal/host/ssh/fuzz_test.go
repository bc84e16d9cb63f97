package ssh_test

import (
	"os/exec"
	"strings"
	"testing"

	"prony/internal/host"
	prony "prony/internal/host/ssh"
)

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"ssh://me@sut1:22", "ssh://[::1]:2222", "ssh://a", "ssh://-o@x", "ssh://a b", "ssh://%0a", "ssh://me:pw@x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		user, alias, port, err := prony.ParseURL(text)
		if err != nil {
			return
		}
		if alias == "" || port < 0 || port > 65535 || strings.HasPrefix(alias, "-") || strings.HasPrefix(user, "-") ||
			strings.ContainsAny(user+alias, " \n\r\t'\"`$;|&") {
			t.Errorf("of %q: got %q, %q, %d", text, user, alias, port)
		}
	})
}

func FuzzReadLeader(f *testing.F) {
	f.Add("Welcome\nprony-leads 4711\nrest")
	f.Add("prony-leads 1\n")
	f.Add("prony-leads -7\n")
	f.Fuzz(func(t *testing.T, text string) {
		if pid, err := prony.ReadLeader(text); err == nil && pid < 2 || err != nil && pid != 0 {
			t.Errorf("of %q: got %d, %v", text, pid, err)
		}
	})
}

// FuzzLine has a real shell receive a command: one line that gives the same
// argument and variable again.
func FuzzLine(f *testing.F) {
	for _, s := range []string{"", "a\nb", "'\n'", "\\", "$nl", "\n\n", "it's \"so\"", "\r"} {
		f.Add(s)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		f.Skip("no shell")
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.ContainsRune(word, 0) || len(word) > 1000 {
			return
		}
		line := prony.Line(host.Spec{Name: "sh", Args: []string{"-c", `printf "%s|%s" "$V" "$0"`, word}, Env: []string{"V=" + word}, Dir: "/"})
		if strings.Contains(line, "\n") {
			t.Fatalf("of %q: got several lines %q", word, line)
		}
		c := exec.Command(sh, "-c", prony.NewlineForm+`IFS= read -r line; eval "$line"`)
		c.Stdin = strings.NewReader(line + "\n")
		if got, err := c.Output(); err != nil || string(got) != word+"|"+word {
			t.Errorf("the shell made %q of %q, %v", got, word, err)
		}
	})
}
