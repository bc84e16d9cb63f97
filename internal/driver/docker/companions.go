package docker

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// companions are the folders that a file loads from without any library or word
// naming them; those that are not there are left out.
func companions(name string) []string {
	base, dir := path.Base(name), path.Dir(name)
	var all []string
	switch {
	case strings.HasPrefix(base, "libluajit-5.1.so"), strings.HasPrefix(base, "liblua5.1.so"): // package.path, package.cpath
		all = []string{"/usr/share/lua/5.1", "/usr/local/share/lua/5.1", path.Join(dir, "lua/5.1")}
	case base == "java" && path.Base(dir) == "bin": // java.home
		all = []string{path.Dir(dir)}
	}
	var there []string
	for _, folder := range all {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			there = append(there, folder)
		}
	}
	return there
}

// settled is a program by the name under which it finds its companions: a Java
// machine looks beside its file, not beside a link to it.
func settled(name string) string {
	if path.Base(name) != "java" {
		return name
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return name
}
