package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"prony/internal/analyse"
	"prony/internal/demo"
	"prony/internal/monitor"
	"prony/internal/result"
	"prony/internal/unit"
)

const calibrateLong = `Find out how far this machine can see: the highest rate that the generator sends
as planned to a server that does nothing, over loopback, and the latency that is
the floor of every measurement from here. Loads on the same machine with the same
version are then held against it: a rate above half of it is suspect. The answer
is kept in the cache; --show prints it. It takes about two minutes.`

func calibrateCommand(std streams) *cobra.Command {
	var show bool
	var seconds float64
	f := runFlags{advisory: true}
	cmd := &cobra.Command{Use: "calibrate", Short: "Find out what this machine's generator can do at most", Long: calibrateLong, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if show {
				return showCalibration(std)
			}
			return runCalibration(cmd.Context(), f, time.Duration(seconds*float64(time.Second)), std)
		}}
	cmd.Flags().BoolVar(&show, "show", false, "print what was found before, and stop")
	cmd.Flags().Float64Var(&seconds, "seconds", 3, "length of a trial")
	f.looks.register(cmd.Flags())
	return cmd
}

// calibration is what a generator can do on one machine.
type calibration struct {
	Machine string    `json:"machine"` // what it holds for
	At      time.Time `json:"at"`
	Rate    float64   `json:"rate"` // the highest that was sent as planned, per second
	Refused float64   `json:"refused"`
	P50US   float64   `json:"p50_us"` // at a tenth of what a closed load gets
	P99US   float64   `json:"p99_us"`
}

// machine names what a calibration holds for.
func machine() string {
	e := monitor.Environment()
	return fmt.Sprintf("%s, %s %s, %d CPUs %s, prony %s", e.Hostname, e.OS, e.Kernel, e.CPUs, e.CPUModel, version)
}

func calibrationFile() (string, error) {
	cache, err := cacheHome()
	return filepath.Join(cache, "calibration.json"), err
}

// calibrated is the calibration of this machine; nil if there is none.
func calibrated() (*calibration, error) {
	name, err := calibrationFile()
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var c calibration
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil {
		return nil, fmt.Errorf("read the calibration: %w", err)
	}
	if c.Machine != machine() {
		return nil, nil
	}
	return &c, nil
}

func (c *calibration) save() error {
	name, err := calibrationFile()
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o755)
	}
	if err == nil {
		err = os.WriteFile(name, b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the calibration: %w", err)
	}
	return nil
}

func runCalibration(ctx context.Context, f runFlags, trial time.Duration, std streams) error {
	p, err := builtIn("calibrate", demo.Calibrate, trial)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	places, err := openSites(ctx, nil)
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	quiet := std
	quiet.out = std.err
	c, err := newCampaign(f, "/", p, places, quiet)
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	all, err := c.carryOut(ctx)
	if all == nil || statusOf(err) > exitVerdict {
		return err
	}
	found, err := fromSearch(all)
	if err != nil {
		return &exitError{exitVerdict, err}
	}
	if err := found.save(); err != nil {
		return &exitError{exitEnvironment, err}
	}
	return showCalibration(std)
}

var errNoCalibration = errors.New("no rate was sent as planned: is the machine busy? see prony doctor")

// fromSearch reads the answer of the search.
func fromSearch(all *result.Experiment) (*calibration, error) {
	for _, t := range all.Trials {
		if t.Capacity == nil {
			continue
		}
		c := &calibration{Machine: machine(), At: time.Now(), Rate: max(t.Capacity.Rate, t.Capacity.Held), Refused: max(t.Capacity.Limit, t.Capacity.Refused)}
		for _, one := range t.Capacity.Trials {
			if one.Rate > 0 && one.Passed && one.Invalid == "" && c.P50US == 0 {
				c.P50US, c.P99US = one.P50US, one.P99US
			}
		}
		if c.Rate > 0 {
			return c, nil
		}
	}
	return nil, errNoCalibration
}

func showCalibration(std streams) error {
	c, err := calibrated()
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	if c == nil {
		return &exitError{exitVerdict, errors.New("this machine was not calibrated yet with this version: prony calibrate")}
	}
	fmt.Fprintf(std.out, "  %s\n", c.Machine)
	fmt.Fprintf(std.out, "  most        %s sent as planned", unit.FormatRate(c.Rate))
	if c.Refused > 0 {
		fmt.Fprintf(std.out, ", %s not", unit.FormatRate(c.Refused))
	}
	fmt.Fprintf(std.out, "\n  floor       p50 %s, p99 %s against a server that does nothing, over loopback\n",
		unit.FormatDuration(microseconds(c.P50US)), unit.FormatDuration(microseconds(c.P99US)))
	fmt.Fprintf(std.out, "  found       %s\n", c.At.Local().Format(time.DateTime))
	return nil
}

func microseconds(us float64) time.Duration { return time.Duration(us * float64(time.Microsecond)) }

// observed is the calibration as a result carries it: nothing for loads over
// TLS, which cost the generator more.
func (c *calibration) observed(run *result.Run) []result.Observed {
	if c == nil || run.Load.TLS != nil {
		return nil
	}
	return []result.Observed{{Kind: result.OfGenerator, Facts: map[string]string{
		analyse.CalibratedRate: strconv.FormatFloat(c.Rate, 'f', 0, 64),
		"floor_p50_us":         strconv.FormatFloat(c.P50US, 'f', 1, 64), "floor_p99_us": strconv.FormatFloat(c.P99US, 'f', 1, 64)}}}
}
