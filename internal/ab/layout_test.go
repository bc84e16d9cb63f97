package ab

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// This file is inside the package because it needs the seam between figures
// and layout: figures are read out of what the original printed, by a reader
// that shares nothing with the printer, and must print the same bytes.

// field returns the text after a label of the original's report.
func field(t *testing.T, text, label string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^(?:<tr[^>]*><th[^>]*>)?` + regexp.QuoteMeta(label) + `:(?:</th><td[^>]*>)?[ ]*(.*?)(?:</td></tr>)?$`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}

// number returns the first number after a label, 0 if the label is absent.
func number(t *testing.T, text, label string) float64 {
	t.Helper()
	v := regexp.MustCompile(`^[0-9.]+`).FindString(field(t, text, label))
	if v == "" {
		return 0
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil {
		t.Fatalf("%s: %v", label, err)
	}
	return n
}

// readFigures reads everything but the time taken to the microsecond.
func readFigures(t *testing.T, text string) figures {
	t.Helper()
	count := func(label string) int64 { return int64(number(t, text, label)) }
	f := figures{
		server: field(t, text, "Server Software"), host: field(t, text, "Server Hostname"), port: int(count("Server Port")),
		tlsProtocol: field(t, text, "SSL/TLS Protocol"), tempKey: field(t, text, "Server Temp Key"),
		serverName: field(t, text, "TLS Server Name"), path: field(t, text, "Document Path"),
		variable: field(t, text, "Document Length") == "Variable", docLength: count("Document Length"),
		concurrency: int(count("Concurrency Level")), complete: count("Complete requests"), failed: count("Failed requests"),
		non2xx: count("Non-2xx responses"), keepAlive: field(t, text, "Keep-Alive requests") != "", keptAlive: count("Keep-Alive requests"),
		bytesIn: count("Total transferred"), sendBody: field(t, text, "Total body sent") != "",
		bytesOut: count("Total body sent"), bodyBytes: count("HTML transferred"),
	}
	if m := regexp.MustCompile(`\(Connect: (\d+), (?:Receive: (\d+), )?Length: (\d+), Exceptions: (\d+)\)`).FindStringSubmatch(text); m != nil {
		for i, into := range []*int64{&f.connect, &f.receive, &f.length, &f.exceptions} {
			*into, _ = strconv.ParseInt(m[i+1], 10, 64)
		}
	}
	f.times.n = f.complete
	f.times.connect, f.times.processing = readRow(text, "Connect"), readRow(text, "Processing")
	f.times.waiting, f.times.total = readRow(text, "Waiting"), readRow(text, "Total")
	for _, m := range regexp.MustCompile(`(?m)^ +\d+% +(\d+)`).FindAllStringSubmatch(text, -1) {
		v, _ := strconv.ParseInt(m[1], 10, 64)
		f.percentiles = append(f.percentiles, v)
	}
	return f
}

// readRow reads a line of the table of times in any of its three shapes.
func readRow(text, label string) row {
	for l := range strings.SplitSeq(text, "\n") {
		l = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(l, " ")
		v := strings.Fields(l)
		if len(v) < 4 || v[0] != label+":" {
			continue
		}
		n := make([]int64, len(v))
		for i := range v {
			n[i], _ = strconv.ParseInt(v[i], 10, 64)
		}
		if len(v) == 4 {
			return row{min: n[1], mean: n[2], max: n[3]}
		}
		sd, _ := strconv.ParseFloat(v[3], 64)
		return row{min: n[1], mean: n[2], sd: sd, median: n[4], max: n[5]}
	}
	return row{}
}

// seconds finds the time taken, in whole microseconds as the original has it,
// from which every rate of the report follows.
func seconds(t *testing.T, text string, f figures) float64 {
	t.Helper()
	printed := number(t, text, "Time taken for tests")
	rate := strings.Fields(field(t, text, "Requests per second"))[0]
	transfer := strings.Fields(field(t, text, "Transfer rate"))[0]
	perRequest := strings.Fields(field(t, text, "Time per request") + " -")[0] // none in HTML
	for us := int64(printed*1e6) - 501; us <= int64(printed*1e6)+501; us++ {
		s := float64(us) / 1e6
		if fmt.Sprintf("%.2f", float64(f.complete)/s) == rate && fmt.Sprintf("%.2f", float64(f.bytesIn)/1024/s) == transfer &&
			(perRequest == "-" || fmt.Sprintf("%.3f", float64(f.concurrency)*s*1000/float64(f.complete)) == perRequest) {
			return s
		}
	}
	t.Fatalf("no time taken gives %s requests per second and %s kb/s", rate, transfer)
	return 0
}

func TestOriginalLayout(t *testing.T) {
	files, err := filepath.Glob("testdata/real/*.txt")
	if err != nil || len(files) < 18 {
		t.Fatalf("%d captured reports, %v", len(files), err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".stderr.txt") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			checkLayout(t, string(b))
		})
	}
}

// checkLayout prints the figures of a report again.
func checkLayout(t *testing.T, text string) {
	t.Helper()
	f := readFigures(t, text)
	f.seconds = seconds(t, text, f)
	o := Options{
		Quirks: true, Short: strings.Contains(text, "min   avg   max"),
		NoPercentiles: !strings.Contains(text, "Percentage of"), CellAttr: "bgcolor=white",
	}
	var b strings.Builder
	start := "\n\nServer Software"
	if strings.Contains(text, "<table") {
		start = "\n\n<table"
		if strings.Contains(text, "border=1") {
			o.TableAttr, o.RowAttr, o.CellAttr = "border=1", "a=b", "c=d"
		}
		f.times.sumConnect, f.times.sumTotal = f.times.connect.mean*1000*f.times.n, f.times.total.mean*1000*f.times.n
		f.html(&b, o)
	} else {
		f.text(&b, o)
	}
	want := text[strings.Index(text, start):]
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
