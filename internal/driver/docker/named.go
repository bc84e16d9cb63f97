package docker

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// pathPattern finds absolute paths in words and configuration.
const pathPattern = `(?:^|[\s"'=:,;(\[{])(/[^\s"'=:,;()\[\]{}$*?<>|\\]+)`

// shallow is how many parts a folder's path has to have to be taken: a word may
// well name /tmp or /etc without meaning all that is in it.
const shallow = 2

// named are the paths in a text that are on this machine, without those below
// skip and those that every container has.
func named(text, skip string, folders bool) []string {
	var all []string
	for _, m := range regexp.MustCompile(pathPattern).FindAllStringSubmatch(text, -1) {
		name := path.Clean(m[1])
		if inWork(name) || skip != "" && strings.HasPrefix(name, skip+"/") || engines(name) {
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			continue
		}
		if info.Mode().IsRegular() || folders && info.IsDir() && strings.Count(name, "/") >= shallow && name != skip {
			all = append(all, name)
		}
	}
	return all
}

// engines reports whether the engine or the kernel brings a path.
func engines(name string) bool {
	for _, dir := range []string{"/proc", "/sys", "/dev", "/run", "/var/run", "/tmp", "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/resolv.conf", "/etc/hostname"} {
		if name == dir || strings.HasPrefix(name, dir+"/") && dir != "/tmp" {
			return true
		}
	}
	return false
}

// libraryPattern finds the names of shared libraries that a program loads while
// it runs, as scripts write them: libuuid.so.1.
const libraryPattern = `(?:^|[\s"'=:,;(\[{])(lib[\w+-]+\.so(?:\.\d+)*)`

// loaded are the libraries in a text that are where the loader looks by itself
// (ld.so(8); Debian and others have a folder for each architecture).
func loaded(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile(libraryPattern).FindAllStringSubmatch(text, -1) {
		for _, dir := range []string{"/lib/*-linux-*", "/usr/lib/*-linux-*", "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"} {
			found, _ := filepath.Glob(path.Join(dir, m[1])) // the pattern is ours
			if len(found) > 0 {
				all = append(all, found[0])
				break
			}
		}
	}
	return all
}
