package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Found is a need that is there.
type Found struct {
	Path string
	// Stamp is another text when the thing is another one, so that what was
	// built with the old one is built anew.
	Stamp string
}

// Finder looks for what an entry needs. The error says what is missing, without
// the way to get it.
type Finder func(Need) (Found, error)

// Lack is a need that is not there, and why it is thought so.
type Lack struct {
	Need Need
	Err  error
}

// MissingError is what is not on the machine, for each way to run the entry.
// Getting it is up to the user.
type MissingError struct {
	Entry string
	Ways  [][]Lack
}

// Error names each thing and the command that brings it.
func (e *MissingError) Error() string {
	ways := make([]string, len(e.Ways))
	for i, way := range e.Ways {
		ways[i] = strings.Join(names(way, func(l Lack) string {
			return fmt.Sprintf("%s (%v; to get it: %s)", l.Need.Name, l.Err, l.Need.Install)
		}), ", ")
	}
	return fmt.Sprintf("catalog entry %s needs %s", e.Entry, strings.Join(ways, "; or "))
}

// find looks for some needs of the entry.
func (e *Entry) find(finder Finder, wanted []string) (found map[string]Found, missing []Lack) {
	found = map[string]Found{}
	for _, name := range wanted {
		n := *e.need(name) // a name without a need was refused when the entry was read
		f, err := finder(n)
		if err != nil {
			missing = append(missing, Lack{n, err})
			continue
		}
		found[name] = f
	}
	return found, missing
}

// FindHere looks on this machine.
func FindHere(n Need) (Found, error) {
	switch {
	case n.Program != "":
		return stamped(findProgram(n))
	case n.JDK > 0:
		return stamped(findJDK(n.JDK))
	}
	for _, f := range n.Files {
		if _, err := os.Stat(f); err == nil {
			return stamped(f, nil)
		}
	}
	return Found{}, fmt.Errorf("no file %s", strings.Join(n.Files, " or "))
}

// stamped adds size and time of what was found; of a folder, those of its file
// release, which Java homes have.
func stamped(path string, err error) (Found, error) {
	if err != nil {
		return Found{}, err
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		if release, err := os.Stat(filepath.Join(path, "release")); err == nil {
			info = release
		}
	}
	if err != nil {
		return Found{}, err
	}
	return Found{path, fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())}, nil
}

// findProgram looks in the path, in the folders of system programs, which are
// not in everybody's, and where the entry says.
func findProgram(n Need) (string, error) {
	for _, name := range append([]string{n.Program, "/usr/local/sbin/" + n.Program, "/usr/sbin/" + n.Program}, n.Paths...) {
		if p, err := exec.LookPath(name); err == nil {
			return filepath.Abs(p)
		}
	}
	return "", fmt.Errorf("no program %s", n.Program)
}

// findJDK looks for the oldest Java development kit that is new enough, so that
// a newer one beside it changes nothing: in JAVA_HOME, which wins if it will do,
// and where distributions keep them.
func findJDK(release int) (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" && jdkRelease(home) >= release {
		return home, nil
	}
	homes, err := filepath.Glob("/usr/lib/jvm/*")
	if err != nil {
		return "", err
	}
	if java, err := exec.LookPath("java"); err == nil {
		if java, err = filepath.EvalSymlinks(java); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(java)))
		}
	}
	best, found := "", 0
	for _, home := range homes {
		if r := jdkRelease(home); r >= release && (found == 0 || r < found) {
			best, found = home, r
		}
	}
	if found == 0 {
		return "", fmt.Errorf("no JDK of release %d or newer", release)
	}
	return best, nil
}

// jdkRelease reads the release from a Java home: 17 from JAVA_VERSION="17.0.15",
// 8 from "1.8.0_392" in its file release. 0 is no JDK, or one without compiler.
func jdkRelease(home string) int {
	if _, err := os.Stat(filepath.Join(home, "bin", "javac")); errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	text, err := os.ReadFile(filepath.Join(home, "release"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "JAVA_VERSION="); ok {
			parts := strings.FieldsFunc(strings.Trim(v, `"`), func(r rune) bool { return !strings.ContainsRune("0123456789", r) })
			if len(parts) > 1 && parts[0] == "1" {
				parts = slices.Delete(parts, 0, 1)
			}
			if len(parts) > 0 {
				n, _ := strconv.Atoi(parts[0]) // digits alone
				return n
			}
		}
	}
	return 0
}
