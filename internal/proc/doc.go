// Package proc reads the files below /proc that a benchmark has to look at.
//
// It is for whoever watches a process or a host: CPU time of cores, processes
// and threads, memory, limits, sockets, kernel settings, pressure. Each file
// has a struct, and each struct names its units.
//
// It decides that numbers stay as the kernel counts them: counters since boot
// or since the process began, never rates; whoever wants a share takes two
// readings. Lines and columns it does not know are skipped, because kernels
// grow; a line it should know and cannot read is an error that names the file
// and quotes the text. A figure that a kernel may lack comes with an ok.
//
// Two ways lead to a figure. A method of [FS] opens, reads, parses and closes.
// What is wanted every second, while a measurement runs, comes from a [Reader],
// which keeps its descriptor and its memory: after the first reading it does
// not allocate.
//
// It refuses to write, to follow other processes by name, and to be complete.
// The package compiles everywhere, and finds no files where there are none.
package proc
