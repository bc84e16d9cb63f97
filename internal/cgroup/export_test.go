package cgroup

// ParseText runs the parser of a kind of file on a text.
func ParseText(kind, text string) (any, error) {
	switch kind {
	case "cgroup":
		return parseMembers(text)
	case "mountinfo":
		return parseMounts(text)
	case "cpu.max":
		return parseMax(text)
	case "memory.max":
		return parseAmount(text)
	case "cpuset.cpus":
		return parseList(text)
	case "cpu.stat":
		return parseThrottling(text)
	}
	panic("no parser for " + kind)
}
