// Package monitor watches the process it runs in, so that a load generator can
// say what it cost and whether it was healthy while it measured.
//
// It is for whoever prints a number: a rate that was reached at full CPU, under
// a CPU quota, with a collector that paused for milliseconds, or on a host that
// others were using, is a number about the generator. [StartSelf] starts the
// watch, [SelfWatch.Result] gives the figures of the measurement window, and
// [Environment] describes the machine.
//
// It decides that figures are deltas of counters, never averages that somebody
// else has smoothed, and that they are cut to the window: the watch takes a
// sample each second, and one at each edge of a window that was announced; an
// edge without a sample is interpolated. What could not be read is left zero
// and named ([SelfWatch.Unknown]), because unknown is not zero.
//
// It refuses to disturb what it watches more than it says: its readers keep
// descriptors and buffers, it never lists a folder with thousands of entries
// where the kernel offers the count, and its own CPU time is one of the
// figures: 0.2 to 1 % of one core, most of it for waking up 50 times a second
// to see whether that comes late. It changes nothing, and does not know the
// engine.
//
// The full set of figures exists on Linux. Elsewhere there is the CPU time of
// the process and what the Go runtime knows about itself.
package monitor
