package proc

// ParseText runs the parser of a file, named by its path below the root, on a
// text, for tests that feed it what no kernel would write.
func ParseText(name string, text []byte) (any, error) {
	switch name {
	case "stat":
		return run(text, parseStat)
	case "self/stat":
		return run(text, parseTask)
	case "self/schedstat":
		return run(text, parseSchedStat)
	case "self/status":
		return run(text, parseStatus)
	case "self/limits":
		return run(text, parseLimits)
	case "net/sockstat":
		return run(text, parseSockets)
	case "net/snmp":
		return run(text, parseCounters)
	case "cpuinfo":
		return run(text, parseCPUInfo)
	case "meminfo":
		return run(text, parseMemory)
	case "loadavg":
		return run(text, parseLoad)
	case "pressure/cpu":
		return run(text, parsePressure)
	}
	panic("no parser for " + name)
}

func run[T any](text []byte, parse parser[T]) (any, error) {
	var into T
	err := parse(text, &into)
	return into, err
}
