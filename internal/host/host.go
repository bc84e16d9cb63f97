package host

import "context"

// Host is a machine. Its methods may be used by several goroutines at once; a
// [Cmd] belongs to one.
type Host interface {
	// Command prepares a command; nothing runs before Start, Run or Output.
	// A name without a slash is looked up in the PATH of the host.
	Command(name string, args ...string) *Cmd
	// FS is the host's files.
	FS() *FS
	// Facts asks the host what it is. It runs one command.
	Facts(ctx context.Context) (Facts, error)
}

// Place is where something runs. What is not known stays empty.
type Place struct {
	Host      Host
	PID       int    // of its first process; 0 if unknown
	Cgroup    string // name of its control group
	Container string // id, for things that run in one
}
