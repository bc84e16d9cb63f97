package ab

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"prony/internal/result"
)

// WriteFiles writes the files of -e and -g, if they were asked for and there
// is something to write. An error names the file.
func WriteFiles(r *result.Run, o Options) error {
	return measure(r, o).files(r, o)
}

// files writes both files.
func (f figures) files(r *result.Run, o Options) error {
	if f.times.n == 0 {
		return nil
	}
	if o.CSVFile != "" {
		if err := create("CSV", o.CSVFile, f.csv); err != nil {
			return err
		}
	}
	if o.GnuplotFile != "" {
		return create("gnuplot", o.GnuplotFile, func(w io.Writer) error { return writeTSV(w, r, o) })
	}
	return nil
}

// create writes a file through a buffer.
func create(what, name string, write func(io.Writer) error) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("open %s output file: %w", what, err)
	}
	defer func() {
		if e := file.Close(); err == nil && e != nil {
			err = fmt.Errorf("close %s output file: %w", what, e)
		}
	}()
	b := bufio.NewWriter(file)
	if err := write(b); err != nil {
		return fmt.Errorf("write %s output file: %w", what, err)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write %s output file: %w", what, err)
	}
	return nil
}

// CSV writes the file of -e: 101 rows of a percentage and the time within
// which that share was served, in milliseconds with three decimals. Row p is
// element trunc(0.5 + n*p/100) of the sorted times; where that is past the
// last one (ab reads whatever is there) it is the last one.
func CSV(w io.Writer, r *result.Run, o Options) error { return measure(r, o).csv(w) }

// csv writes the rows, or nothing if there are no times.
func (f figures) csv(w io.Writer) error {
	if f.times.n == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "Percentage served,Time in ms\n"); err != nil {
		return err
	}
	for p := range 101 {
		us := f.times.sorted[min(csvIndex(f.times.n, p), f.times.n-1)]
		if _, err := fmt.Fprintf(w, "%d,%.3f\n", p, float64(us)/usPerMS); err != nil {
			return err
		}
	}
	return nil
}

// TSV writes the file of -g: a line for each request with the moment its
// connection was begun (in words and in seconds since 1970) and its connect,
// processing, total and waiting time in whole milliseconds. As in ab the lines
// are sorted by total time; requests as long as each other are in the order of
// their waiting, processing and connect times. Moments are in the time zone of
// the run.
func TSV(w io.Writer, r *result.Run, o Options) error { return writeTSV(w, r, o) }

// writeTSV sorts and prints.
func writeTSV(w io.Writer, r *result.Run, o Options) error {
	if _, err := io.WriteString(w, "starttime\tseconds\tctime\tdtime\tttime\twait\n"); err != nil {
		return err
	}
	zone := r.Started.Location()
	for _, rec := range byTotal(r.Load.Records, o.Quirks) {
		at := time.Unix(0, rec.Start)
		_, err := fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n",
			at.In(zone).Format("Mon Jan 02 15:04:05 2006"), at.Unix(),
			roundMS(connectUS(rec)), roundMS(processingUS(rec)), roundMS(totalUS(rec)), roundMS(waitingUS(rec)))
		if err != nil {
			return err
		}
	}
	return nil
}

// byTotal is the complete requests in the order of ab's last sort, which
// keeps the order of those before it.
func byTotal(records []result.Record, quirks bool) []*result.Record {
	kind := answered
	if quirks {
		kind = completeToAB
	}
	sorted := make([]*result.Record, 0, len(records))
	for i := range records {
		if kind(records[i].Kind) {
			sorted = append(sorted, &records[i])
		}
	}
	slices.SortStableFunc(sorted, func(a, b *result.Record) int {
		return cmp.Or(
			cmp.Compare(totalUS(a), totalUS(b)),
			cmp.Compare(waitingUS(a), waitingUS(b)),
			cmp.Compare(processingUS(a), processingUS(b)),
			cmp.Compare(connectUS(a), connectUS(b)))
	})
	return sorted
}
