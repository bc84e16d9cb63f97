package ssh

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// identity gathers keys, and what stood in the way of others.
type identity struct {
	signers []ssh.Signer
	doubts  []string
	socket  net.Conn // to the agent, while logging in
}

func (id *identity) doubt(format string, args ...any) {
	id.doubts = append(id.doubts, fmt.Sprintf(format, args...))
}

// close ends the conversation with the agent.
func (id *identity) close() {
	if id.socket != nil {
		_ = id.socket.Close()
	}
}

// identify collects the keys for a machine: those of files that the agent does
// not hold, and the agent's. The named files come first, as ssh has it.
func identify(w where, patience time.Duration) *identity {
	id := &identity{}
	held := id.ask(w.agent, patience)
	used := map[string]bool{}
	take := func(s ssh.Signer) {
		if key := string(s.PublicKey().Marshal()); !used[key] {
			used[key] = true
			id.signers = append(id.signers, s)
		}
	}
	for _, name := range w.identities {
		if s := id.file(name, held); s != nil {
			take(s)
		}
	}
	if !w.only {
		for _, s := range held {
			take(s)
		}
	}
	return id
}

// ask fetches the keys of the agent.
func (id *identity) ask(socket string, patience time.Duration) []ssh.Signer {
	if socket == "" {
		id.doubt("no agent (SSH_AUTH_SOCK is not set)")
		return nil
	}
	conn, err := net.DialTimeout("unix", socket, patience)
	if err != nil {
		id.doubt("the agent does not answer: %v", err)
		return nil
	}
	id.socket = conn
	// It may ask its user to confirm a signature, so it gets as long as the
	// login does.
	_ = conn.SetDeadline(time.Now().Add(patience))
	held, err := agent.NewClient(conn).Signers()
	if err != nil {
		id.doubt("the agent does not tell its keys: %v", err)
	} else if len(held) == 0 {
		id.doubt("the agent holds no key: ssh-add adds one")
	}
	return held
}

// file reads a key, or finds the agent's counterpart of one that is encrypted
// or only there as a public half. It returns nil with a doubt, or without one
// if there is no such file.
func (id *identity) file(name string, held []ssh.Signer) ssh.Signer {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return counterpart(held, public(name+".pub", name))
	}
	if err != nil {
		id.doubt("key not readable: %v", err)
		return nil
	}
	signer, err := ssh.ParsePrivateKey(text)
	var locked *ssh.PassphraseMissingError
	switch {
	case err == nil:
		return signer
	case !errors.As(err, &locked):
		if s := counterpart(held, public(name)); s != nil {
			return s
		}
		id.doubt("key %s is not a key: %v", name, err)
		return nil
	}
	half := locked.PublicKey
	if half == nil {
		half = public(name + ".pub")
	}
	if s := counterpart(held, half); s != nil {
		return s
	}
	id.doubt("key %s is encrypted: unlock it with ssh-add %s, then try again", name, name)
	return nil
}

// public reads the first of some files that holds a public key; nil without.
func public(names ...string) ssh.PublicKey {
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if key, _, _, _, err := ssh.ParseAuthorizedKey(text); err == nil {
			return key
		}
	}
	return nil
}

// counterpart is the key of the agent whose public half this is.
func counterpart(held []ssh.Signer, half ssh.PublicKey) ssh.Signer {
	if half == nil {
		return nil
	}
	for _, s := range held {
		if bytes.Equal(s.PublicKey().Marshal(), half.Marshal()) {
			return s
		}
	}
	return nil
}

// refused explains a login that was not let in.
func (id *identity) refused(w where, err error) error {
	if strings.Contains(err.Error(), "Too many authentication failures") {
		return fmt.Errorf("log in as %s: %d keys were too many for the server: name the right one in the ssh configuration "+
			"(IdentityFile, IdentitiesOnly yes): %w", w.user, len(id.signers), err)
	}
	if !strings.Contains(err.Error(), "unable to authenticate") {
		return err
	}
	var tried []string
	for _, s := range id.signers {
		tried = append(tried, s.PublicKey().Type()+" "+ssh.FingerprintSHA256(s.PublicKey()))
	}
	why := "no key to offer"
	if len(tried) > 0 {
		why = "none of our keys is allowed there (" + strings.Join(tried, ", ") + ")"
	}
	return fmt.Errorf("log in as %s: %s%s: allow one with: ssh-copy-id -p %d %s@%s: %w",
		w.user, why, also(id.doubts), w.port, w.user, w.host, err)
}

func also(doubts []string) string {
	if len(doubts) == 0 {
		return ""
	}
	return "; " + strings.Join(doubts, "; ")
}
