// Package host is a machine that we can run commands on and keep files on: this
// one, or another one that looks the same to whoever uses it.
//
// It is for drivers, monitors and doctor, which must not care where a target
// runs. [Local] is this machine; package host/ssh reaches another one. A
// [Place] says where something runs: host, process, control group, container.
//
// It decides that a command is a process group: a signal reaches all of it, and
// when its first process ends, what is left of the group is killed. When the
// context of a command ends, the group is asked to stop (SIGTERM) and killed
// after [Cmd.Grace]. When we ourselves die, even by SIGKILL, a small shell that
// stands beside the commands sees its input end and kills their groups. Only a
// process that leaves its group on purpose (setsid, a daemon) escapes; a control
// group holds that one too. Paths are absolute, because hosts do not agree on
// where a relative one begins, and files are replaced whole or not at all.
//
// It refuses to be a terminal: no pty, no prompts, no passwords. It keeps no
// more of a command's error output than its end, and of [Cmd.Output] no more
// than 16 MiB. On systems that are not Unix a command is a single process and a
// signal can only be [Kill].
package host
