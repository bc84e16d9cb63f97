package monitor

import "prony/internal/proc"

// source is where the texts come from: the files of this machine, or those of
// another through something that reads files. Names are absolute, as on the
// machine that is watched.
type source interface {
	// begin starts a sample; what it returns is said when nothing can be read.
	begin() error
	// read returns the text of a file. It is good until the next reading.
	read(name string) ([]byte, error)
	// head is read, but of large files only the first part may come.
	head(name string) ([]byte, error)
	// list returns the names in a folder.
	list(name string) ([]string, error)
	// link returns where a symbolic link leads.
	link(name string) (string, error)
	// descriptors counts the entries of a folder of descriptors.
	descriptors(pid int) (int64, error)
	// end drops what this sample did not need.
	end()
	close()
}

// text is something that reads itself from the text of its file.
type text interface{ Parse(text []byte) error }

// into reads a file into what parses it, and reports whether that went well.
// What does not read is unknown, and not worth an error each second.
func into(src source, name string, t text) bool {
	b, err := src.read(name)
	return err == nil && t.Parse(b) == nil
}

// whole reads a file that holds one number; ok is false if it does not.
func whole(src source, name string) (n int64, ok bool) {
	var one oneNumber
	ok = into(src, name, &one)
	return one.n, ok
}

// word reads a file that holds one word or line, "" if there is none.
func word(src source, name string) string {
	b, err := src.read(name)
	if err != nil {
		return ""
	}
	return squeeze(b)
}

var _ text = (*proc.Stat)(nil)
