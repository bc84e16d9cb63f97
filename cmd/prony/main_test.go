package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"prony/internal/evloop"
)

var update = flag.Bool("update", false, "write the expected outputs in the scripts anew")

// TestMain makes the test binary stand in for the commands that scripts run:
// under their names it is main, and through it run.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"prony": main, "wrk": main, "ab": main})
}

// TestScripts runs the command lines of testdata/script against targets of
// their own. The commands that scripts have beside testscript's are listed in
// script_test.go.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               setup,
		Cmds:                scriptCommands(),
		Condition:           condition,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
	})
}

// setup keeps what a user may have out of the scripts: an own data folder, and
// no wish about colours.
func setup(e *testscript.Env) error {
	e.Setenv("PRONY_HOME", filepath.Join(e.WorkDir, "home"))
	e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "xdg"))
	e.Setenv("NO_COLOR", "")
	e.Setenv("TERM", "xterm")
	e.Values[served{}] = &served{}
	return nil
}

// condition knows [uring]: io_uring can be used here.
func condition(name string) (bool, error) {
	if name != "uring" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	kind, _ := evloop.Probe()
	return kind == evloop.IOURing, nil
}
