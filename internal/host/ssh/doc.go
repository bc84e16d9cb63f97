// Package ssh is a host that is reached over ssh: commands, files and facts as
// package host has them, and a copy of ourselves on the other side.
//
// It is for whoever has a target or a generator on another machine. It reads
// what the user's ssh reads: ~/.ssh/config and /etc/ssh/ssh_config (HostName,
// User, Port, IdentityFile, IdentitiesOnly, IdentityAgent, ProxyJump,
// UserKnownHostsFile, StrictHostKeyChecking; Match host, user and all), the
// agent, key files, known_hosts.
//
// It decides that a host key must be known: an unknown one is an error with the
// fingerprint and the line that adds it, a changed one is an error always, even
// with StrictHostKeyChecking no, which means accept-new here. It decides that a
// command's process group dies with the connection: a guard on the other side
// (host.GuardScript) sees its input end. When a link is lost without a word, that
// is as soon as the server notices (its ClientAliveInterval, or TCP's own
// keepalive); we notice after [Config.KeepAlive] times [Config.Misses]. Each
// command takes one session of the connection, the guard and the files one more
// each; a server allows ten by default (MaxSessions).
//
// It refuses passwords, passphrases, prompts, certificates of users,
// ProxyCommand and forwarding; where one of these is needed the error says what
// to do instead. The other side needs a POSIX shell, and an sftp server for
// files.
package ssh
