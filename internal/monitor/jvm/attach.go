package jvm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"prony/internal/proc"
)

var (
	errDeaf     = errors.New("it does not catch SIGQUIT: no Java virtual machine, or one that was told not to (-Xrs)")
	errSilent   = errors.New("it does not open its socket (-XX:+DisableAttachMechanism, perhaps)")
	errRefused  = errors.New("the virtual machine refused")
	errAnswer   = errors.New("the answer has no status")
	errTooLong  = errors.New("at most three arguments, without zero bytes")
	errPlatform = fmt.Errorf("attaching is done on Linux only: %w", errors.ErrUnsupported)
)

// answerMax bounds an answer: a dump of ten thousand threads has about 20 MB.
const answerMax = 64 << 20

// Command has the machine of a process run a command of the attach protocol
// ("threaddump", "jcmd", "properties") with at most three arguments, and returns
// its answer. It needs the user of the process, or root. The first command to a
// machine takes up to a second more. It ends with ctx.
func Command(ctx context.Context, pid int, command string, args ...string) (string, error) {
	text, err := attach(ctx, pid, command, args)
	if err != nil {
		return "", fmt.Errorf("ask the virtual machine of process %d for %s: %w", pid, command, err)
	}
	return text, nil
}

func attach(ctx context.Context, pid int, command string, args []string) (string, error) {
	if len(args) > 3 || strings.ContainsRune(command+strings.Join(args, ""), 0) {
		return "", errTooLong
	}
	t, err := reach(ctx, pid)
	if err != nil {
		return "", err
	}
	return t.ask(ctx, plain(command, args...))
}

// reach finds a machine that listens, and has it listen if it does not yet.
func reach(ctx context.Context, pid int) (target, error) {
	if runtime.GOOS != "linux" {
		return target{}, errPlatform
	}
	t, err := look(pid)
	if err != nil {
		return t, err
	}
	if _, err := os.Stat(t.socket); err != nil {
		return t, t.wake(ctx)
	}
	return t, nil
}

// target is a process that may be a virtual machine.
type target struct {
	pid    int
	folder string // in proc
	inner  int64  // its number in its own namespace
	uid    int64
	socket string
	caught bool // it catches SIGQUIT
}

func look(pid int) (target, error) {
	t := target{pid: pid, folder: "/proc/" + strconv.Itoa(pid)}
	text, err := os.ReadFile(t.folder + "/status")
	if err != nil {
		return t, err
	}
	var s proc.Status
	if err := s.Parse(text); err != nil {
		return t, fmt.Errorf("parse %s/status: %w", t.folder, err)
	}
	if t.inner, t.uid = s.Inner, s.UID; t.inner == 0 {
		t.inner = int64(pid)
	}
	t.socket = fmt.Sprintf("%s/root/tmp/.java_pid%d", t.folder, t.inner)
	t.caught = catches(string(text), syscall.SIGQUIT)
	return t, nil
}

// catches reads the line "SigCgt: 2000000181005ccf" of a status: a bit for each
// signal that has a handler, signal 1 being the lowest.
func catches(status string, s syscall.Signal) bool {
	_, rest, ok := strings.Cut(status, "\nSigCgt:")
	if !ok {
		return false
	}
	line, _, _ := strings.Cut(rest, "\n")
	mask, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	return err == nil && mask&(1<<(int(s)-1)) != 0
}

// wakePatience bounds the waiting for the socket; a machine that loads classes
// at its start may take a while.
const wakePatience = 10 * time.Second

// The socket is looked for often, and asked for seldom.
const (
	lookPeriod   = 10 * time.Millisecond
	looksASignal = 100
)

// wake has the machine open its socket: it looks for a file of this name when
// it hears SIGQUIT, and would print its threads if there were none.
func (t target) wake(ctx context.Context) error {
	if !t.caught {
		return errDeaf
	}
	file, err := t.leave()
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file) }()
	ctx, cancel := context.WithTimeoutCause(ctx, wakePatience, errSilent)
	defer cancel()
	process, err := os.FindProcess(t.pid)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(lookPeriod)
	defer ticker.Stop()
	for looks := 0; ; looks++ {
		// Seldom: a machine that listens already answers by printing its threads.
		if looks%looksASignal == 0 {
			if err := process.Signal(syscall.SIGQUIT); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		if _, err := os.Stat(t.socket); err == nil {
			return nil
		}
	}
}

// leave makes the file that tells the machine to listen: in its working folder,
// or where that is not writable in its temporary one.
func (t target) leave() (string, error) {
	name := fmt.Sprintf(".attach_pid%d", t.inner)
	var errs []error
	for _, dir := range []string{t.folder + "/cwd", t.folder + "/root/tmp"} {
		file := filepath.Join(dir, name)
		f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, os.ErrExist) {
			return file, nil // somebody else attaches at this moment
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if os.Geteuid() == 0 {
			err = f.Chown(int(t.uid), -1) // it must be the machine's own user's
		}
		return file, errors.Join(err, f.Close())
	}
	return "", errors.Join(errs...)
}

// plain is a request in the protocol's first version: the version, the command
// and three arguments, each with a zero byte behind it.
func plain(command string, args ...string) string {
	words := append([]string{"1", command}, args...)
	for len(words) < 5 {
		words = append(words, "")
	}
	return strings.Join(words, "\x00") + "\x00"
}

// ask sends one request. The first line of the answer is 0, or the number of an
// error.
func (t target) ask(ctx context.Context, request string) (string, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", t.socket)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.WriteString(conn, request); err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(conn, answerMax))
	if context.Cause(ctx) != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", err
	}
	status, text, ok := strings.Cut(string(b), "\n")
	switch {
	case !ok:
		return "", errAnswer
	case status != "0":
		return "", fmt.Errorf("%w: status %.20s: %.200s", errRefused, status, text)
	}
	return text, nil
}
