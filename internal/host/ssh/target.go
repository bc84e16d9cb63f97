package ssh

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/kevinburke/ssh_config"
)

// Config is how to reach hosts. The zero value does what the user's ssh does.
type Config struct {
	// Home is where .ssh is; default the user's home.
	Home string
	// Files are the ssh configurations, the first that names a key wins;
	// default Home/.ssh/config and /etc/ssh/ssh_config. A file that is not
	// there is no error.
	Files []string
	// KnownHosts are the files of known keys, instead of what Files say.
	KnownHosts []string
	// Identities are key files, before those that Files name.
	Identities []string
	// Agent is the socket of the agent; default $SSH_AUTH_SOCK, "none" is none.
	Agent string

	// Timeout bounds each of: connecting, logging in, opening a session;
	// default 15 s.
	Timeout time.Duration
	// KeepAlive is the time between two signs of life; default 10 s. After
	// Misses of them without an answer, default 3, the connection counts as
	// lost and everything that waits for it fails.
	KeepAlive time.Duration
	Misses    int
}

// where is one machine, after the configuration was read.
type where struct {
	alias      string // as the user named it
	host       string
	port       int
	user       string
	identities []string
	only       bool // no keys of the agent but those of identities
	agent      string
	known      []string
	strict     string
	jumps      []string // the machines before it, in order
}

func (w where) address() string { return net.JoinHostPort(w.host, strconv.Itoa(w.port)) }

// String is the form that the user may name it by.
func (w where) String() string { return "ssh://" + w.user + "@" + w.address() }

var (
	errURL      = errors.New("want ssh://user@host:port, user and port may be left out")
	errPassword = errors.New("passwords are not taken: use a key (ssh-copy-id) and the agent")
	errPort     = errors.New("want a port from 1 to 65535")
	errProxy    = errors.New("ProxyCommand is not supported: use ProxyJump, or a tunnel to a local port")
)

// named is what the user named: everything but alias may be left out.
type named struct {
	user, alias string
	port        int
}

// parseURL reads ssh://user@host:port.
func parseURL(text string) (named, error) {
	u, err := url.Parse(text)
	if err != nil {
		return named{}, errURL // the other one may show a password
	}
	if _, ok := u.User.Password(); ok {
		return named{}, errPassword
	}
	extra := u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != ""
	if u.Scheme != "ssh" || extra {
		return named{}, errURL
	}
	return checked(named{user: u.User.Username(), alias: u.Hostname()}, u.Port())
}

// parseJump reads one element of ProxyJump: user@host:port or a URL.
func parseJump(text string) (named, error) {
	if strings.Contains(text, "://") {
		return parseURL(text)
	}
	return parseURL("ssh://" + text)
}

// checked refuses names that could be taken for something else: an option of
// ssh when the command is pasted, a second line in known_hosts.
func checked(n named, port string) (named, error) {
	for _, name := range []string{n.user, n.alias} {
		if strings.HasPrefix(name, "-") || strings.ContainsAny(name, " \t\r\n\x00,'\"`$\\;&<>|(){}/") {
			return named{}, errURL
		}
	}
	if n.alias == "" {
		return named{}, errURL
	}
	if port == "" {
		return n, nil
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return named{}, errPort
	}
	n.port = int(number)
	return n, nil
}

// settings answers for an alias from several files.
type settings struct {
	files []*ssh_config.Config
	home  string
}

// settings reads the configuration files.
func (c Config) settings() (settings, error) {
	s := settings{home: c.Home}
	if s.home == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return s, err
		}
		s.home = home
	}
	names := c.Files
	if names == nil {
		names = []string{filepath.Join(s.home, ".ssh", "config"), "/etc/ssh/ssh_config"}
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return s, fmt.Errorf("read ssh configuration: %w", err)
		}
		file, err := ssh_config.Decode(bytes.NewReader(text))
		if err != nil {
			return s, fmt.Errorf("read ssh configuration %s: %w", name, err)
		}
		s.files = append(s.files, file)
	}
	return s, nil
}

// all are the values of a key, of the first file that has any.
func (s settings) all(alias, key string) []string {
	for _, file := range s.files {
		values, err := file.GetAll(alias, key)
		if err == nil && len(values) > 0 {
			return values
		}
	}
	return nil
}

// first is the value of a key, "" without one.
func (s settings) first(alias, key string) string {
	if values := s.all(alias, key); len(values) > 0 {
		return values[0]
	}
	return ""
}

// resolve makes a machine of a name: what the user said, then the files, then
// the defaults of ssh_config(5).
func (c Config) resolve(s settings, n named) (where, error) {
	w := where{alias: n.alias, host: n.alias, user: n.user, port: n.port, strict: s.first(n.alias, "StrictHostKeyChecking")}
	if proxy := s.first(n.alias, "ProxyCommand"); proxy != "" && proxy != "none" {
		return w, errProxy
	}
	if name := s.first(n.alias, "HostName"); name != "" {
		w.host = strings.ReplaceAll(strings.ReplaceAll(name, "%h", n.alias), "%%", "%")
	}
	if w.user == "" {
		w.user = s.first(n.alias, "User")
	}
	if w.user == "" {
		w.user = localUser()
	}
	if w.port == 0 {
		port, err := strconv.ParseUint(s.first(n.alias, "Port"), 10, 16)
		if err == nil && port > 0 {
			w.port = int(port)
		} else if text := s.first(n.alias, "Port"); text != "" {
			return w, fmt.Errorf("port %q of the ssh configuration: %w", text, errPort)
		} else {
			w.port = 22
		}
	}
	if jump := s.first(n.alias, "ProxyJump"); jump != "" && jump != "none" {
		w.jumps = strings.Split(jump, ",")
	}
	c.keys(s, &w)
	return w, nil
}

// keys finds out who may vouch for us, and which keys we believe.
func (c Config) keys(s settings, w *where) {
	w.only = strings.EqualFold(s.first(w.alias, "IdentitiesOnly"), "yes")
	w.identities = append(w.identities, c.Identities...)
	files := s.all(w.alias, "IdentityFile")
	if files == nil {
		for _, kind := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
			files = append(files, "~/.ssh/"+kind)
		}
	}
	for _, file := range files {
		w.identities = append(w.identities, s.expand(*w, file))
	}
	w.agent = s.agent(c, *w)
	w.known = c.KnownHosts
	if w.known == nil {
		known := strings.Fields(s.first(w.alias, "UserKnownHostsFile"))
		if len(known) == 0 {
			known = []string{"~/.ssh/known_hosts", "~/.ssh/known_hosts2"}
		}
		for _, file := range known {
			w.known = append(w.known, s.expand(*w, file))
		}
		w.known = append(w.known, "/etc/ssh/ssh_known_hosts")
	}
}

// agent is the socket of the agent, "" for none.
func (s settings) agent(c Config, w where) string {
	agent := c.Agent
	if agent == "" {
		agent = s.first(w.alias, "IdentityAgent")
	}
	switch agent {
	case "none":
		return ""
	case "", "SSH_AUTH_SOCK", "$SSH_AUTH_SOCK":
		return os.Getenv("SSH_AUTH_SOCK")
	}
	return s.expand(w, agent)
}

// expand resolves ~ and the tokens of ssh_config(5) in a file's name.
func (s settings) expand(w where, name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(s.home, rest)
	}
	return strings.NewReplacer("%%", "%", "%d", s.home, "%h", w.host, "%n", w.alias, "%p", strconv.Itoa(w.port),
		"%r", w.user, "%u", localUser()).Replace(name)
}

func localUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}
