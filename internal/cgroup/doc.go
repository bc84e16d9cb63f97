// Package cgroup finds the control group of this process, reads what it allows
// and what it held back, and makes groups for others.
//
// It is for whoever asks how much of the machine is ours: CPU quota, memory
// limit, allowed cores, and how often the quota stopped us; and for drivers that
// give a service so much and no more. Version 1, version 2 and hosts that mount
// both (hybrid) are covered; each controller is looked up where the host really
// has it.
//
// It decides that a limit is the tightest one from our group up to the mount
// point, because a parent's quota binds its children, and that throttling is
// counted in the group that sets the quota. "Unlimited" is a known answer (an
// infinite number of cores, math.MaxInt64 bytes); what could not be read comes
// with ok = false or as [Unknown], for unknown is not zero. A limit that is set
// is read back, and one that the kernel did not take is an error. A group is
// made at the top of what we see, or below our own group where only that was
// delegated to us; for this, and only then, a process of version 2 moves itself
// into a child of its group, as the kernel demands.
//
// It refuses to change a group that it did not make, to kill a group that holds
// this process, and to wait without bound. In a container with its own view of
// the hierarchy, limits set above that view cannot be seen, and count as not
// there.
package cgroup
