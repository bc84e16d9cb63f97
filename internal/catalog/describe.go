package catalog

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Describe writes what a user wants to know of an entry, with what of its needs
// the finder sees.
func (e *Entry) Describe(w io.Writer, find Finder) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "%s: %s\n%s, from %s\n", e.Name, e.Description, e.Kind, e.Origin)
	for _, v := range e.Versions {
		fmt.Fprintf(t, "%s %s\n", v.Name, v.Text)
	}
	e.describeNeeds(t, find)
	e.describeRun(t)
	if len(e.Routes) > 0 {
		fmt.Fprintf(t, "\nroutes\n")
	}
	for _, r := range e.Routes {
		fmt.Fprintf(t, "  %s\n", r)
	}
	if e.Counters != nil {
		fmt.Fprintf(t, "\ncounters\n  %s at %s\n", e.Counters.Format, e.Counters.Path)
	}
	if len(e.Parameters) > 0 {
		fmt.Fprintf(t, "\nparameters\n")
	}
	for _, p := range e.Parameters {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", p.Name, orQuotes(p.Default), strings.TrimSpace(p.Doc))
	}
	return t.Flush()
}

func (e *Entry) describeNeeds(w io.Writer, find Finder) {
	if len(e.Needs) > 0 {
		fmt.Fprintf(w, "\nneeds\n")
	}
	for _, n := range e.Needs {
		if f, err := find(n); err == nil {
			fmt.Fprintf(w, "  %s\tfound\t%s\n", n.Name, f.Path)
		} else {
			fmt.Fprintf(w, "  %s\tmissing\t%s\n", n.Name, n.Install)
		}
	}
}

func (e *Entry) describeRun(w io.Writer) {
	if e.Build != nil {
		fmt.Fprintf(w, "\nbuild\n  %s\n", oneLine(e.Build.Command))
	}
	fmt.Fprintf(w, "\nrun\n")
	for _, v := range e.Run {
		fmt.Fprintf(w, "  %s\n", oneLine(v.Command))
	}
	switch im := e.Image; {
	case im == nil:
	case im.Name != "":
		fmt.Fprintf(w, "  or in the image %s\n", im.Name)
	default:
		fmt.Fprintf(w, "  or in an image built from %s\n", im.Dockerfile)
	}
}

func oneLine(t Template) string { return strings.Join(strings.Fields(t.String()), " ") }

// orQuotes shows an empty value.
func orQuotes(s string) string {
	if s == "" {
		return `""`
	}
	return s
}

// Print writes what a trial found, a line for each route and counter.
func (o Outcome) Print(w io.Writer) {
	for _, r := range o.Routes {
		if r.Err != nil {
			fmt.Fprintf(w, "WRONG  %s: %v\n", r.Route, r.Err)
		} else {
			fmt.Fprintf(w, "right  %s\n", r.Route)
		}
	}
	for _, c := range o.Counters {
		name := "the server"
		if c.Upstream != "" {
			name = "upstream " + c.Upstream
		}
		fmt.Fprintf(w, "counted for %s: %d requests, %d connections\n", name, c.Requests, c.Connections)
	}
	if o.CounterError != nil {
		fmt.Fprintf(w, "WRONG  counters: %v\n", o.CounterError)
	}
}
