package cgroup

// CreateOnPaper is Create with folders that somebody else makes, in place of a
// kernel.
func CreateOnPaper(root, name string, limits Limits, mkdir func(string) error) (*Owned, error) {
	return maker{mkdir}.create(root, name, limits)
}

// ParseCounter reads a counter: the line that begins with a word, or the whole.
func ParseCounter(text, word string) (int64, error) {
	return counter{word: word, scale: 1000}.parse(text)
}

// Hand hands a controller of version 2 down to the children of a folder that we
// are not in.
func Hand(parent, name string) error {
	return hierarchy{version: V2, chain: []string{parent + "/elsewhere", parent}}.hand(parent, controller(name), true)
}

// HandFromOwn does so from a folder that we are in.
func HandFromOwn(parent, name string) error {
	return hierarchy{version: V2, chain: []string{parent}}.hand(parent, controller(name), true)
}
