// Package jvm looks into a Java virtual machine from outside, without an agent
// and without any tool of a JDK.
//
// It is for whoever asks why a Java service is slow: heap, collections, pauses,
// class loading and compilation come from the file of performance data that
// HotSpot keeps in memory ([Perf]); the states of threads come from a thread
// dump by the attach protocol, the one that jcmd speaks ([Threads]).
//
// It decides that ticks become durations, that the collectors of one machine
// are summed up, and that counters which a version of the JDK does not have are
// missing, not zero. A process in a container is found by its own file system
// and the number that it has there.
//
// It refuses to send a signal to a process that would not catch it: the first
// attach to a machine takes SIGQUIT, which ends every other program. Reading
// performance data costs the machine nothing; a thread dump stops it for some
// milliseconds, so it is made on request only.
package jvm
