package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"prony/internal/cgroup"
	"prony/internal/doctor"
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
	return doctor.Config{Files: openFileLimits, Groups: mayLimit, Engine: func() (string, string) {
		kind, reason := evloop.Probe()
		return string(kind), reason
	}}
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
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(struct {
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
