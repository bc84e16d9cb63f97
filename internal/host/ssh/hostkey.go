package ssh

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	cryptoknown "golang.org/x/crypto/ssh/knownhosts"

	"prony/internal/host"
)

// UnknownKeyError is a host whose key is in none of the files.
type UnknownKeyError struct {
	Address     string
	Type        string
	Fingerprint string // SHA256:…, as ssh-keygen -l prints it
	Line        string // what would have to stand in known_hosts
	File        string // where
}

// Error tells the fingerprint and the command that adds the key.
func (e *UnknownKeyError) Error() string {
	return fmt.Sprintf("the host key of %s is not known: %s %s: compare it with the host's own "+
		"(ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub there), then: echo %s >> %s",
		e.Address, e.Type, e.Fingerprint, host.Quote(e.Line), host.Quote(e.File))
}

// ChangedKeyError is a host that shows another key than the known one.
type ChangedKeyError struct {
	Address     string
	Type        string
	Fingerprint string
	Known       []string // file:line of the keys that were expected
}

// Error warns, and tells what to do when the change was intended.
func (e *ChangedKeyError) Error() string {
	return fmt.Sprintf("THE HOST KEY OF %s HAS CHANGED: it shows %s %s, known is another (%s): "+
		"somebody may stand in between; only if the host was installed anew: ssh-keygen -R %s",
		e.Address, e.Type, e.Fingerprint, strings.Join(e.Known, ", "), host.Quote(knownhosts.Normalize(e.Address)))
}

// RevokedKeyError is a host that shows a key which a known_hosts file revokes.
type RevokedKeyError struct {
	Address, Fingerprint string
}

// Error says so.
func (e *RevokedKeyError) Error() string {
	return fmt.Sprintf("the host key of %s is revoked: %s", e.Address, e.Fingerprint)
}

// keyring checks the keys of one machine.
type keyring struct {
	db   *knownhosts.HostKeyDB
	w    where
	seen error // the verdict, which the handshake's own error would hide
}

// keyring reads the files of known keys that exist.
func (w where) keyring() (*keyring, error) {
	var there []string
	for _, name := range w.known {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue // /dev/null is a way to say none
		}
		there = append(there, name)
	}
	db, err := knownhosts.NewDB(there...)
	if err != nil {
		return nil, fmt.Errorf("read the known host keys: %w", err)
	}
	return &keyring{db: db, w: w}, nil
}

// algorithms are the kinds of key that are known for the machine, so that it
// shows us one that we can check; nil leaves it to the defaults.
func (k *keyring) algorithms() []string { return k.db.HostKeyAlgorithms(k.w.address()) }

// check is the callback of the handshake.
func (k *keyring) check(address string, remote net.Addr, key ssh.PublicKey) error {
	k.seen = k.verdict(address, remote, key)
	return k.seen
}

func (k *keyring) verdict(address string, remote net.Addr, key ssh.PublicKey) error {
	err := k.db.HostKeyCallback()(address, remote, key)
	print := ssh.FingerprintSHA256(key)
	var other *cryptoknown.KeyError
	var revoked *cryptoknown.RevokedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &revoked):
		return &RevokedKeyError{address, print}
	case knownhosts.IsHostKeyChanged(err) && errors.As(err, &other):
		e := &ChangedKeyError{Address: address, Type: key.Type(), Fingerprint: print}
		for _, want := range other.Want {
			e.Known = append(e.Known, fmt.Sprintf("%s:%d", want.Filename, want.Line))
		}
		return e
	case knownhosts.IsHostUnknown(err):
		return k.unknown(address, key)
	}
	return err
}

// unknown refuses, or adds the key where the configuration says accept-new. "no"
// and "off" are taken for that: a changed key is never let through.
func (k *keyring) unknown(address string, key ssh.PublicKey) error {
	line := knownhosts.Line([]string{address}, key)
	e := &UnknownKeyError{Address: address, Type: key.Type(), Fingerprint: ssh.FingerprintSHA256(key), Line: line, File: k.w.known[0]}
	switch strings.ToLower(k.w.strict) {
	case "accept-new", "no", "off":
		return remember(k.w.known[0], line)
	}
	return e
}

// remember appends a line, and makes the file if need be.
func remember(name, line string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("remember the host key: %w", err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("remember the host key: %w", err)
	}
	_, err = f.WriteString(line + "\n")
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("remember the host key: %w", err)
	}
	return nil
}
