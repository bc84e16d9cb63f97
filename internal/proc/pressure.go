package proc

import (
	"errors"
	"strings"
)

// Resource is what tasks may have to wait for.
type Resource string

// The resources of pressure stall information.
const (
	PressureCPU    Resource = "cpu"
	PressureMemory Resource = "memory"
	PressureIO     Resource = "io"
)

// Pressure is /proc/pressure/RESOURCE: for how long tasks stood still for want
// of it, in microseconds since boot.
type Pressure struct {
	SomeUS int64 // at least one task waited
	FullUS int64 // all that were not idle waited; FullOK says if it is counted
	FullOK bool
}

// Pressure reads /proc/pressure/RESOURCE. Kernels before 4.20, or without
// CONFIG_PSI, have no such file, and those with psi=0 refuse to open it.
func (f FS) Pressure(of Resource) (Pressure, error) {
	return read(f.path("pressure", string(of)), parsePressure)
}

// OpenPressure opens /proc/pressure/RESOURCE for many readings.
func (f FS) OpenPressure(of Resource) (*Reader[Pressure], error) {
	return open(f.path("pressure", string(of)), parsePressure)
}

var (
	errNoSome  = errors.New(`no line "some"`)
	errNoTotal = errors.New("no total")
)

// parsePressure reads the lines
//
//	some avg10=70.46 avg60=74.37 avg300=73.29 total=698428236
//	full avg10=0.00 avg60=0.00 avg300=0.00 total=0
//
// (Documentation/accounting/psi.rst): averages in percent, which are not read
// because two totals say it exactly, and the total in microseconds. The second
// line is missing for cpu before 5.13.
func parsePressure(text []byte, p *Pressure) error {
	*p = Pressure{}
	found := false
	for len(text) > 0 {
		var line []byte
		line, text = cutLine(text)
		word, rest := cutField(line)
		var err error
		switch string(word) {
		case "some":
			found = true
			err = total(rest, &p.SomeUS)
		case "full":
			p.FullOK = true
			err = total(rest, &p.FullUS)
		}
		if err != nil {
			return bad(line, err)
		}
	}
	if !found {
		return errNoSome
	}
	return nil
}

func total(line []byte, into *int64) error {
	for {
		var word []byte
		if word, line = cutField(line); len(word) == 0 {
			return errNoTotal
		}
		if len(word) > 6 && strings.HasPrefix(string(word[:6]), "total=") {
			return first(word[6:], into)
		}
	}
}
