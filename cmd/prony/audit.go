package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"prony/internal/audit"
	"prony/internal/result"
)

const auditLong = `Read published results and say what in them cannot be true. FILE is any text
that holds the output of wrk, wrk2, ab, Gatling, h2load, hey, vegeta,
bombardier, oha, k6 or fortio, pasted with whatever stood around it; a CSV table
of results; or Prony's own JSON. - is standard input.

What is known beside the output are facts: flags, which hold for all results, or
a file FILE.facts.yaml beside the text (docs/audit.md); a YAML file alone gives
results that are known by facts only. Rules that lack a fact say which.

Exit status: 1 when a result, a comparison or a claim is impossible or invalid,
2 when no result was found.`

const auditExample = `  prony audit result.txt
  wrk -t8 -c512 -d60s http://host/ | prony audit -
  prony audit result.txt --link 1gbit --cores 4 --generator-cores 8 --cpu wrk=560%
  prony audit a.txt b.txt --claim 'b faster than a by 20%'`

// auditFlags are the flags of prony audit: facts of all results, and the rest.
type auditFlags struct {
	facts  string
	claims []string
	json   string
	given  []setFact
}

// setFact is a fact as a flag; it keeps what it was told.
type setFact struct {
	key, text string
	apply     func(*audit.Block)
}

// factFlag makes a flag of a fact.
type factFlag struct {
	key string
	all *[]setFact
}

func (f factFlag) String() string { return "" }

func (f factFlag) Type() string { return "string" }

func (f factFlag) Set(text string) error {
	apply, err := audit.SetFact(f.key, text)
	if err != nil {
		return err
	}
	*f.all = append(*f.all, setFact{f.key, text, apply})
	return nil
}

// factFlags are the facts that are worth a flag: what can hold for all results
// of a text.
func factFlags() []string {
	return []string{"connections", "threads", "duration", "link", "cores", "memory", "cpu", "cpu-quota", "system-cpu",
		"generator-cores", "generator-cpu", "same-host", "answer-bytes", "expect-bytes", "pipeline", "via", "kind", "keepalive", "errors", "warmup", "repeats"}
}

func auditCommand(std streams) *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{Use: "audit FILE...|-", Short: "Say what in published results cannot be true", Long: auditLong, Example: auditExample,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error { return f.run(files, std) }}
	f.register(cmd.Flags())
	return cmd
}

func (f *auditFlags) register(s *pflag.FlagSet) {
	s.SortFlags = false
	help := audit.FactKeys()
	for _, name := range factFlags() {
		key := strings.ReplaceAll(name, "-", "_")
		s.Var(factFlag{key, &f.given}, name, help[key])
		if _, bare := map[string]bool{"same-host": true, "keepalive": true}[name]; bare {
			s.Lookup(name).NoOptDefVal = "true"
		}
	}
	s.StringArrayVar(&f.claims, "claim", nil, "what was concluded, 'A faster than B by 20%', 'A limited by cpu' (repeatable)")
	s.StringVar(&f.facts, "facts", "", "YAML file of facts (default: FILE.facts.yaml where it exists)")
	s.StringVar(&f.json, "json", "", "write the findings as JSON to FILE; - is standard output")
}

// run is the command: texts and facts in, a report and a verdict out.
func (f *auditFlags) run(files []string, std streams) error {
	if err := foldersExist(f.json); err != nil {
		return &exitError{exitUsage, err}
	}
	if len(files) == 1 && f.facts == "" && slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(files[0])) {
		f.facts, files = files[0], nil // results that are known by facts alone
	}
	sources, err := auditSources(files, std.in)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	read, err := audit.Read(sources, audit.Limits{})
	if err != nil {
		return &exitError{exitUsage, err}
	}
	facts, all, err := f.readFacts(files, read)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if len(all) == 0 && len(facts.Shards) == 0 {
		return &exitError{exitUsage, fmt.Errorf("no result was recognised in %s: want the output of wrk, ab, Gatling, h2load, hey, vegeta, bombardier, oha, k6 or fortio",
			strings.Join(append(files, nonempty(f.facts)...), ", "))}
	}
	r := audit.Run(all, facts, audit.Thresholds{})
	if err := f.write(r, std); err != nil {
		return &exitError{exitEnvironment, err}
	}
	if r.Verdict == result.Invalid {
		return &exitError{code: exitVerdict}
	}
	return nil
}

// auditSources reads the texts, each to one byte more than is allowed.
func auditSources(files []string, in io.Reader) ([]audit.Source, error) {
	var all []audit.Source
	for _, file := range files {
		r := in
		if file != "-" {
			opened, err := os.Open(file)
			if err != nil {
				return nil, err
			}
			defer func() { _ = opened.Close() }() // nothing was written
			r = opened
		}
		b, err := io.ReadAll(io.LimitReader(r, audit.MaxBytes+1))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, audit.Source{File: file, Text: string(b)})
	}
	return all, nil
}

// readFacts reads the file of facts of each text, lays them over its results,
// and then the flags.
func (f *auditFlags) readFacts(files []string, read []audit.Block) (audit.File, []audit.Block, error) {
	var errs []error
	facts := audit.File{}
	var all []audit.Block
	flags := func(b *audit.Block) {
		for _, g := range f.given {
			g.apply(b)
		}
	}
	if f.facts != "" {
		one, err := parseFacts(f.facts)
		facts, errs = one, append(errs, err)
		errs = append(errs, f.lost(f.facts, read, one))
		all = audit.Join(read, one, flags)
		errs = append(errs, one.Check(f.facts, all))
	} else {
		all, errs = f.besideFiles(files, read, &facts, flags)
	}
	for _, text := range f.claims {
		c, err := audit.ParseClaim(text)
		if err == nil {
			facts.Claims = append(facts.Claims, c)
		} else {
			errs = append(errs, fmt.Errorf("--claim: %w", err))
		}
	}
	for _, c := range facts.Claims {
		if len(all) > 0 {
			_, _, err := c.Resolve(all)
			errs = append(errs, err)
		}
	}
	return facts, all, errors.Join(errs...)
}

// besideFiles joins each text's results with the facts beside it.
func (f *auditFlags) besideFiles(files []string, read []audit.Block, facts *audit.File, flags func(*audit.Block)) (all []audit.Block, errs []error) {
	for i, file := range files {
		if slices.Contains(files[:i], file) {
			continue // named twice, and read twice
		}
		own := slices.DeleteFunc(slices.Clone(read), func(b audit.Block) bool { return b.File != file })
		one := audit.File{}
		if beside := file + ".facts.yaml"; file != "-" && exists(beside) {
			parsed, err := parseFacts(beside)
			one = parsed
			errs = append(errs, err, f.lost(beside, own, one))
		}
		joined := audit.Join(own, one, flags)
		if file != "-" {
			errs = append(errs, one.Check(file+".facts.yaml", joined))
		}
		all = append(all, joined...)
		facts.Compare, facts.Claims, facts.Shards = append(facts.Compare, one.Compare...), append(facts.Claims, one.Claims...), append(facts.Shards, one.Shards...)
		facts.Limits = limitsOf(facts.Limits, one.Limits)
	}
	return all, errs
}

// limitsOf lays limits over others.
func limitsOf(old, more map[string]float64) map[string]float64 {
	if old == nil {
		return more
	}
	for name, v := range more {
		old[name] = v
	}
	return old
}

// nonempty is a list of a text, unless it is empty.
func nonempty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func parseFacts(file string) (audit.File, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return audit.File{}, err
	}
	return audit.ParseFacts(file, b)
}

// lost refuses facts of results that are not there.
func (f *auditFlags) lost(file string, read []audit.Block, facts audit.File) error {
	if lost := audit.Unmatched(read, facts); len(lost) > 0 {
		return fmt.Errorf("%s: facts of results that were not found: %s; give a rate to let facts stand alone", file, strings.Join(lost, ", "))
	}
	return nil
}

// write tells the report to people and, where asked, as JSON.
func (f *auditFlags) write(r audit.Report, std streams) error {
	people := std.out
	var errs []error
	if f.json != "" {
		if f.json == "-" {
			people = std.err
		}
		errs = append(errs, writeTo(f.json, std.out, func(w io.Writer) error { return audit.JSON(w, r) }))
	}
	return errors.Join(append(errs, audit.Text(people, r))...)
}
