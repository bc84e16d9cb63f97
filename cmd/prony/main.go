// Command prony is a dynamometer for HTTP services and gateways.
//
// main turns what run returns into an exit status: 0 good, 1 the verdict is
// bad, 2 wrong usage, 3 the environment failed, 130 interrupted. Called
// through a link named wrk or ab it is that command.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"prony/internal/ab"
	"prony/internal/wrk"
)

// version is set when the binary is built.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default action is back: a second one kills.
	context.AfterFunc(ctx, stop)
	std := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	os.Exit(run(ctx, os.Args, std))
}

// streams are the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Exit statuses.
const (
	exitGood        = 0
	exitVerdict     = 1
	exitUsage       = 2
	exitEnvironment = 3
	exitInterrupted = 130
)

// exitError ends a command with a status; the text may be empty when all has
// been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// run is the program: arguments in, exit status out.
func run(ctx context.Context, args []string, std streams) int {
	name, rest := filepath.Base(args[0]), args[1:]
	if name != "wrk" && name != "ab" && len(rest) > 0 {
		name, rest = rest[0], rest[1:]
	}
	switch name {
	case "wrk":
		return runWrk(ctx, rest, std)
	case "ab":
		return runAB(ctx, rest, std)
	}
	root := rootCommand(std)
	root.SetArgs(args[1:])
	return status(root.ExecuteContext(ctx), std)
}

// status prints the error of a command and returns its exit status.
func status(err error, std streams) int {
	code := statusOf(err)
	if err == nil {
		return code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(std.err, "prony: %s\n", text)
		if code == exitUsage {
			fmt.Fprintln(std.err, "prony: see prony --help, or prony COMMAND --help")
		}
	}
	return code
}

// statusOf is the exit status that an error stands for.
func statusOf(err error) int {
	if err == nil {
		return exitGood
	}
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	return exitUsage // cobra's own errors are about usage
}

func rootCommand(std streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "prony",
		Short: "A dynamometer for HTTP services: a number you can trust, or the reason why not",
		Long: `Prony drives load at HTTP services and gateways, watches its own generator while
it does so, and says whether the number can be trusted, what the limit was and
how sure it is.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version,
	}
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.AddCommand(loadCommand(std), wrkHelp(std), abHelp(std), demoCommand(std), targetCommand(std), gatewayCommand(std), catalogCommand(std),
		runCommand(std), schemaCommand(std), cleanupCommand(std), compareCommand(std), noiseCommand(std), doctorCommand(std), calibrateCommand(std), obeyCommand(std), observeCommand(std))
	root.AddCommand(storeCommands(std)...)
	root.AddCommand(auditCommand(std))
	root.AddCommand(reportCommand(std))
	root.AddCommand(serveCommand(std))
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

// wrkHelp and abHelp list the front ends, whose flags are their models' own.
func wrkHelp(std streams) *cobra.Command {
	cmd := &cobra.Command{Use: "wrk [options] URL", Short: "Load a URL with wrk's command line, report and Lua scripts", DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return exitWith(runWrk(cmd.Context(), args, std))
		}}
	cmd.SetHelpFunc(func(*cobra.Command, []string) { fmt.Fprint(std.out, wrk.Usage()) })
	return cmd
}

func abHelp(std streams) *cobra.Command {
	cmd := &cobra.Command{Use: "ab [options] URL", Short: "Load a URL with ApacheBench's command line and report", DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return exitWith(runAB(cmd.Context(), args, std))
		}}
	cmd.SetHelpFunc(func(*cobra.Command, []string) { fmt.Fprint(std.out, ab.Usage()) })
	return cmd
}

func exitWith(code int) error {
	if code == exitGood {
		return nil
	}
	return &exitError{code: code}
}
