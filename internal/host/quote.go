package host

import "strings"

// plain are the characters that no shell treats specially.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:@_"

// Quote joins words to a line that a POSIX shell takes apart into the same
// words (Shell Command Language, 2.2.2 Single-Quotes). It is a form to paste;
// a newline stays a newline within quotes.
func Quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
	}
	return strings.Join(quoted, " ")
}

func quote(word string) string {
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// secret are the parts of a variable's name that speak of a secret.
const secret = "PASS SECRET TOKEN KEY CREDENTIAL AUTH"

// masked is an environment as it may be shown: values of variables that sound
// like secrets are left out, because errors are stored and shared.
func masked(env []string) []string {
	shown := make([]string, len(env))
	for i, e := range env {
		shown[i] = e
		name, _, _ := strings.Cut(e, "=")
		for part := range strings.FieldsSeq(secret) {
			if strings.Contains(strings.ToUpper(name), part) {
				shown[i] = name + "=..."
			}
		}
	}
	return shown
}
