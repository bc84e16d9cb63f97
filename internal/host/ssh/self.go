package ssh

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"prony/internal/host"
)

// nest makes a folder of our own in the first place where programs may be run,
// and tells its name. A folder that others can guess could be waiting for us,
// so mktemp makes it.
const nest = `for d in "${TMPDIR:-/tmp}" /var/tmp "$HOME/.cache"; do
  case $d in *[!A-Za-z0-9/._-]*) continue;; esac
  n=$(mktemp -d "$d/prony-$1-XXXXXXXX" 2>/dev/null) || continue
  printf '#!/bin/sh\nexit 0\n' >"$n/try" && chmod 700 "$n/try" && "$n/try" 2>/dev/null && rm "$n/try" && echo "prony:nest=$n" && exit 0
  rm -rf -- "$n"
done
exit 1
`

// sum tells the digest of a file, with what the system has.
const sum = `if command -v sha256sum >/dev/null; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi`

// removal bounds the removing of our copy.
const removal = 10 * time.Second

var (
	errForeign = errors.New("this program does not run there: use a build of Prony for that system, or install one there by hand")
	errNest    = errors.New("no folder there that we may write to and run programs from: " +
		"set TMPDIR for the user (SetEnv in sshd_config), none of /tmp, /var/tmp and ~/.cache works")
	errSpoiled = errors.New("the copy differs from the original: is the disk full?")
)

// CopySelf copies the running program to the host, into a folder of its own
// that carries the program's digest in its name, and checks what arrived.
// remove removes it; Close does too, and so does the guard when the connection
// breaks. It refuses a host of another system or architecture.
func (h *Host) CopySelf(ctx context.Context) (path string, remove func(), err error) {
	path, dir, err := h.copySelf(ctx)
	if err != nil {
		h.forget(dir)
		return "", nil, fmt.Errorf("copy ourselves to %s: %w", h.name, err)
	}
	return path, func() { h.forget(dir) }, nil
}

func (h *Host) copySelf(ctx context.Context) (name, dir string, err error) {
	facts, err := host.Probe(ctx, h)
	if err != nil {
		return "", "", err
	}
	if facts.OS != runtime.GOOS || facts.Arch != runtime.GOARCH {
		return "", "", fmt.Errorf("the host is %s/%s, we are %s/%s: %w", facts.OS, facts.Arch, runtime.GOOS, runtime.GOARCH, errForeign)
	}
	self, err := os.Executable()
	if err != nil {
		return "", "", err
	}
	digest, err := digest(self)
	if err != nil {
		return "", "", err
	}
	if dir, err = h.nest(ctx, digest[:16]); err != nil {
		return "", "", err
	}
	name = dir + "/prony"
	if err := h.FS().Copy(ctx, self, name); err != nil {
		return "", dir, err
	}
	return name, dir, h.verify(ctx, name, digest)
}

// digest is the SHA-256 of a file, in hexadecimal.
func digest(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	d := sha256.New()
	if _, err := io.Copy(d, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(d.Sum(nil)), nil
}

// nest makes the folder, and has the guard own it.
func (h *Host) nest(ctx context.Context, digest string) (string, error) {
	out, err := h.Command("sh", "-c", nest, "sh", digest).Output(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNest, err)
	}
	_, dir, _ := strings.Cut(string(out), "prony:nest=")
	dir = strings.TrimSpace(dir)
	if !strings.HasPrefix(dir, "/") {
		return "", errNest
	}
	return dir, h.guard.tell(func(g *host.Guard) error { return g.Own(dir) })
}

// verify compares what arrived.
func (h *Host) verify(ctx context.Context, name, digest string) error {
	out, err := h.Command("sh", "-c", sum, "sh", name).Output(ctx)
	if err != nil {
		return err
	}
	if got, _, _ := strings.Cut(strings.TrimSpace(string(out)), " "); got != digest {
		return fmt.Errorf("%s: %w", name, errSpoiled)
	}
	return nil
}

// forget removes a folder that nest made. If it cannot, the guard does at the
// end. It works after the caller's context has ended.
func (h *Host) forget(dir string) {
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), removal)
	defer cancel()
	_ = h.Command("rm", "-rf", "--", dir).Run(ctx)
}
