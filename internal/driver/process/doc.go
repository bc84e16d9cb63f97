// Package process is the driver that starts programs: on this machine or on any
// host, each in a process group and a control group of its own.
//
// It decides that a program is inside its control group from its first
// instruction, and that what the kernel says of the limits after the start is
// what is reported. Where control groups cannot be used, limits are an error
// that says what is missing, or a note if they were called advisory; without
// limits it is a note that nobody counts and that a program which leaves its
// group is found by its label alone. Building happens on this machine, once for
// what goes into it: the result is kept in the user's cache under a digest of
// the command, the tools, the environment that matters and all files of the
// source tree around the folder, since a stale build is worse than a slow one. A
// build that puts nothing into ${work} is not kept, only remembered.
//
// What needs to be done on the spot, with control groups, is an [Order]. Here
// the driver obeys it itself; on another host a copy of our program does
// ([Serve]), which the site names.
//
// It refuses a program that is there already under the same label, and to hand a
// build for this machine's system to a host of another: the build's environment
// must say what it is for.
package process
