package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"prony/internal/cgroup"
	"prony/internal/doctor"
	"prony/internal/driver/docker"
	"prony/internal/evloop"
	"prony/internal/report"
)

const doctorLong = `Look whether this machine is fit to measure: who else uses it, what the
hypervisor takes, clocks, frequencies, memory, limits, queues and ports of the
kernel, and what Prony uses itself. Each complaint comes with its reason and a
command to copy. --fix sets the kernel settings that are safe to change while the
machine runs and writes down their old values; --undo puts them back.

Exit status: 0 good, 1 something would make numbers wrong.`

type doctorFlags struct {
	fix, undo bool
	json      string
}

func doctorCommand(std streams) *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{Use: "doctor", Short: "Look whether this machine is fit to measure", Long: doctorLong, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, std) }}
	cmd.Flags().BoolVar(&f.fix, "fix", false, "set what is safe to set; --undo puts it back")
	cmd.Flags().BoolVar(&f.undo, "undo", false, "put back what --fix changed")
	cmd.Flags().StringVar(&f.json, "json", "", "write the checks as JSON to FILE; - is standard output")
	cmd.MarkFlagsMutuallyExclusive("fix", "undo")
	return cmd
}

// examination is how this machine is looked at.
func examination() doctor.Config {
	return doctor.Config{Files: openFileLimits, Groups: mayLimit, Docker: dockerVersion, Engine: func() (string, string) {
		kind, reason := evloop.Probe()
		return string(kind), reason
	}}
}

func dockerVersion(ctx context.Context) (string, error) {
	return docker.New(docker.Config{}).Version(ctx)
}

// beforehand is how long a run looks at the machine before it begins.
const beforehand = 500 * time.Millisecond

// examine looks at the machine before a campaign, keeps the answer in its folder
// and says, if told to, what would make its numbers wrong.
func examine(ctx context.Context, folder string, tell bool, std streams) error {
	c := examination()
	c.Sample = beforehand
	all := doctor.Run(ctx, c)
	for _, k := range all {
		if tell && k.State == doctor.Bad {
			fmt.Fprintf(std.err, "prony: %s: %s: %s (see prony doctor)\n", k.Name, k.Found, k.Why)
		}
	}
	return writeTo(filepath.Join(folder, "doctor.json"), io.Discard, func(w io.Writer) error { return printJSON(w, all) })
}

// mayLimit tries to make a control group.
func mayLimit() error {
	g, err := cgroup.Create("", "prony-doctor", cgroup.Limits{})
	if err != nil {
		return err
	}
	return g.Remove()
}

func (f doctorFlags) run(cmd *cobra.Command, std streams) error {
	home, err := dataHome()
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	kept := filepath.Join(home, "doctor.json")
	if f.undo {
		return undo(kept, std)
	}
	c := examination()
	all := doctor.Run(cmd.Context(), c)
	if f.fix {
		done, err := doctor.Fix(c, all, kept)
		for _, change := range done {
			fmt.Fprintf(std.out, "%s: %q instead of %q\n", change.Key, change.Value, change.Old)
		}
		if err != nil {
			return &exitError{exitEnvironment, err}
		}
		all = doctor.Run(cmd.Context(), c)
	}
	return f.tell(all, std)
}

func undo(kept string, std streams) error {
	done, err := doctor.Undo(doctor.Config{}, kept)
	for _, change := range done {
		fmt.Fprintf(std.out, "%s: %q again\n", change.Key, change.Old)
	}
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	if len(done) == 0 {
		fmt.Fprintln(std.out, "nothing to undo")
	}
	return nil
}

func (f doctorFlags) tell(all []doctor.Check, std streams) error {
	people := std.out
	if f.json == "-" {
		people = std.err
	}
	err := report.Examination(people, all, style(people))
	if f.json != "" {
		err = errors.Join(err, writeTo(f.json, std.out, func(w io.Writer) error {
			return printJSON(w, struct {
				Schema string         `json:"schema"`
				Checks []doctor.Check `json:"checks"`
			}{"prony.doctor/1", all})
		}))
	}
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	if doctor.Worst(all) == doctor.Bad {
		return &exitError{code: exitVerdict}
	}
	return nil
}
