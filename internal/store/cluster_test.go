//go:build unix

package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
)

// cluster is a PostgreSQL server of the tests' own, in a temporary folder,
// reached by a unix socket.
type cluster struct {
	dir  string
	stop func()
	err  error
	n    atomic.Int64 // databases made
}

// shared starts the server for the first test that wants it; TestMain stops it.
var (
	shared  = sync.OnceValue(startCluster)
	started atomic.Bool
)

// postgresURL is an empty database of the test's own. Without PostgreSQL the test
// is skipped, or fails where PRONY_E2E=require.
func postgresURL(t testing.TB) string {
	t.Helper()
	c := shared()
	if c.err != nil {
		if os.Getenv("PRONY_E2E") == "require" {
			t.Fatalf("PostgreSQL is required: %v", c.err)
		}
		t.Skipf("no PostgreSQL: %v", c.err)
	}
	name := fmt.Sprintf("t%d", c.n.Add(1))
	if err := c.exec(`CREATE DATABASE ` + name); err != nil {
		t.Fatalf("create database: %v", err)
	}
	return c.address(name)
}

func (c *cluster) address(database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(c.dir)
}

func (c *cluster) exec(query string) error {
	db, err := sql.Open("pgx", c.address("postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err = db.ExecContext(ctx, query)
	return err
}

// postgresProgram finds a program of the server: in the path, or where Debian
// keeps it.
func postgresProgram(name string) (string, error) {
	if file, err := exec.LookPath(name); err == nil {
		return filepath.EvalSymlinks(file)
	}
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(all) == 0 {
		return "", fmt.Errorf("%s is not installed", name)
	}
	return all[len(all)-1], nil
}

func startCluster() *cluster {
	started.Store(true)
	c := &cluster{stop: func() {}}
	c.err = c.start()
	return c
}

func (c *cluster) start() error {
	initdb, err := postgresProgram("initdb")
	if err != nil {
		return err
	}
	server, err := postgresProgram("postgres")
	if err != nil {
		return err
	}
	// A short path: a socket's has about a hundred letters.
	if c.dir, err = os.MkdirTemp("/tmp", "pronypg"); err != nil {
		return err
	}
	c.stop = func() { _ = os.RemoveAll(c.dir) }
	as, err := unprivileged(c.dir)
	if err != nil {
		return err
	}
	data := filepath.Join(c.dir, "data")
	make := exec.Command(initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	make.SysProcAttr, make.Dir = as, c.dir
	if out, err := make.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return c.serve(server, data, as)
}

// unprivileged is how the server's programs run: they refuse root.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, os.Chown(dir, uid, gid)
}

// serve runs the server below a shell that stops it when its input ends: that
// happens however this process ends.
func (c *cluster) serve(server, data string, as *syscall.SysProcAttr) error {
	const script = `"$@" >server.log 2>&1 & pid=$!; trap : INT TERM; read line; kill -INT $pid; wait $pid`
	cmd := exec.Command("/bin/sh", "-c", script, "sh", server, "-D", data, "-k", c.dir, "-c", "listen_addresses=", "-c", "max_connections=50")
	cmd.SysProcAttr, cmd.Dir = as, c.dir
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.stop = func() {
		_ = in.Close()
		_ = cmd.Wait() // the shell's status says nothing
		_ = os.RemoveAll(c.dir)
	}
	for end := time.Now().Add(30 * time.Second); ; {
		err := c.exec(`SELECT 1`)
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(c.dir, "server.log"))
			return fmt.Errorf("the server does not answer: %w: %s", err, bytes.TrimSpace(log))
		}
		<-time.After(50 * time.Millisecond)
	}
}

// TestMain is also the writer that the kill tests start.
func TestMain(m *testing.M) {
	if address := os.Getenv(writerEnv); address != "" {
		os.Exit(writer(address))
	}
	code := m.Run()
	if started.Load() {
		shared().stop()
	}
	os.Exit(code)
}
