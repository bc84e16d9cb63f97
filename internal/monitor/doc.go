// Package monitor watches: the process it runs in, the machine, services on it
// and on other machines, so that a number can be explained.
//
// It is for whoever prints a number. A rate that was reached at full CPU of the
// generator, under a CPU quota, with a collector that paused for milliseconds, or
// on a host that others were using, is a number about that. [StartSelf] watches
// this process; [Watch] watches a machine and services: cores, pressure, memory,
// disks, interfaces, TCP, process trees, threads by their names, control groups,
// accept queues, Java virtual machines, and what servers say of themselves. The
// same comes from another machine through [Serve] there and [Follow] here, or
// through nothing but its files ([WatchFiles]). [Recording.Cut] gives the series
// of a window, and [Environment] describes a machine.
//
// It decides that figures are deltas of counters on a monotonic clock, never
// averages that somebody else has smoothed, and that they are cut to the window.
// A counter that was set back gives no value rather than a wrong one. What could
// not be read is missing or named ([SelfWatch.Unknown], Unknown of what was
// watched), because unknown is not zero. A process that once belonged to a
// service does so until it ends, and what it did before it was seen is not
// counted, unless it was born meanwhile. Threads are told apart by their names
// without the number at the end.
//
// It refuses to disturb what it watches more than it says: its readers keep
// descriptors and buffers, it never lists a folder with thousands of entries
// where the kernel offers the count, it looks closely only at threads that ran,
// and its own CPU time is one of the figures: of this process's watch 0.2 to 1 %
// of one core, most of it for waking up 50 times a second to see whether that
// comes late; of a machine with ten processes about half a percent. It changes
// nothing, sends signals to nobody, and does not know the engine.
//
// The full set of figures exists on Linux. Elsewhere there is the CPU time of
// this process and what the Go runtime knows about itself.
package monitor
