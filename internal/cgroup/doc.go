// Package cgroup finds the control group of this process and reads what it
// allows and what it held back.
//
// It is for whoever asks how much of the machine is ours: CPU quota, memory
// limit, allowed cores, and how often the quota stopped us. Version 1, version
// 2 and hosts that mount both (hybrid) are read; each controller is looked up
// where the host really has it.
//
// It decides that a limit is the tightest one from our group up to the mount
// point, because a parent's quota binds its children, and that throttling is
// counted in the group that sets the quota. "Unlimited" is a known answer (an
// infinite number of cores, math.MaxInt64 bytes); what could not be read comes
// with ok = false, for unknown is not zero.
//
// It refuses to write: it creates, moves and limits nothing. In a container
// with its own view of the hierarchy, limits set above that view cannot be
// seen, and count as not there.
package cgroup
