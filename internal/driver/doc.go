// Package driver is how a target comes to life: the small [Driver] interface that
// each backend implements (a process, a container, what runs already), and the
// part that is the same for all of them, once: readiness, logs, labels, ports,
// deadlines, death in mid-run, leftovers.
//
// It is for topology and lab, which call [Start] and get a [Running], and for
// those who write a backend. What a backend can do is data ([Features]) and is
// held against the request before anything starts.
//
// It decides that everything started carries the run's id where another process
// finds it again: in its environment ([LabelRun]), in the names of its control
// group, container and folder. A [Record] of what is about to exist is handed
// out before it exists; if that cannot be kept, nothing is started. It decides
// that an instance that dies before it is ready, or is not ready in time, is
// stopped, and that the error ends with its last lines. Output is kept within
// bounds and never holds a target up. Ports come from outside the range that the
// host takes for outgoing connections, so that the connections of a load cannot
// sit on the port of the next instance. A stop works after the caller's context
// has ended, with a deadline of its own.
//
// It refuses limits that the backend cannot set and limits that the host did not
// take, unless they were called advisory, which is then a note that the result
// has to carry. It kills no process by its number alone: the label must still be
// there.
package driver
