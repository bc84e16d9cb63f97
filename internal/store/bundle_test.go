package store_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"prony/internal/result"
	"prony/internal/store"
)

func bundleOf(t testing.TB, r store.Record) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := store.WriteBundle(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func readBundle(b []byte) (store.Record, error) {
	return store.ReadBundle(bytes.NewReader(b), int64(len(b)))
}

// TestBundle: a run goes out of one store and into another, and is the same
// under the same id.
func TestBundle(t *testing.T) {
	ctx := context.Background()
	a, b := open(t, filepath.Join(t.TempDir(), "a.db")), open(t, filepath.Join(t.TempDir(), "b.db"))
	for name, r := range map[string]store.Record{"trial": trial("c1", 3, "2", 1000), "load": load(1, 500)} {
		id := put(t, a, r)
		file := bundleOf(t, must[store.Record](t)(a.Get(ctx, id)))
		if got := put(t, b, must[store.Record](t)(readBundle(file))); got != id {
			t.Errorf("%s: got id %s in the other store, want %s", name, got, id)
		}
		before, after := must[store.Record](t)(a.Get(ctx, id)), must[store.Record](t)(b.Get(ctx, id))
		if x, y := asJSON(t, before), asJSON(t, after); !bytes.Equal(x, y) {
			t.Errorf("%s: got %s, want %s", name, y, x)
		}
		if again := bundleOf(t, after); !bytes.Equal(again, file) {
			t.Errorf("%s: got another file from the other store", name)
		}
	}
}

// zipped is a zip of files in an order.
func zipped(t testing.TB, files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(files); i += 2 {
		w := must[io.Writer](t)(z.Create(files[i]))
		if _, err := io.WriteString(w, files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// bomb is a small file that unpacks to n bytes.
func bomb(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w := must[io.Writer](t)(z.Create("result.json"))
	zeros := make([]byte, 1<<20)
	for range n >> 20 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestHostileBundles(t *testing.T) {
	if testing.Short() {
		t.Skip("large")
	}
	good := `{"schema":"prony.result/1"}`
	many := make([]string, 0, 2002)
	for i := range 1001 {
		many = append(many, fmt.Sprint("f", i), "")
	}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "read bundle: zip"},
		{"no zip", []byte(strings.Repeat("x", 1000)), "read bundle: zip"},
		{"nothing in it", zipped(t), "no result.json"},
		{"no JSON", zipped(t, "result.json", "x"), "invalid character"},
		{"another schema", zipped(t, "result.json", `{"schema":"prony.result/9"}`), `schema "prony.result/9"`},
		{"many files", zipped(t, many...), "1001 files, at most 1000"},
		{"a bomb", bomb(t, 257<<20), "unpacks to more than"},
		{"a campaign that is a path", zipped(t, "result.json", good, "campaign.json", `{"campaign":"../../x"}`), "campaign"},
		{"a log that is a path", zipped(t, "result.json", good, "logs/../../x.log", "x"), "without folders"},
		{"a log that is a path on Windows", zipped(t, "result.json", good, `logs/..\x.log`, "x"), "without folders"},
		{"a trial below one", zipped(t, "result.json", `{"schema":"prony.result/1","number":-1}`, "campaign.json", `{"campaign":"c"}`), "numbers begin with 1"},
		{"a histogram that claims much", zipped(t, "result.json", `{"schema":"prony.result/1","load":{"latency":{"response":{"count":1,"hdr":"HISTFAAAAAF////"}}}}`), "histogram"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := readBundle(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if r, err := readBundle(zipped(t, "result.json", good, "../../etc/passwd", "x", "logs/app[0].log", "text")); err != nil || string(r.Logs["app[0]"]) != "text" || len(r.Logs) != 1 {
		t.Errorf("got %+v and %v, want what is known, and the rest left alone", r, err)
	}
}

func TestReadJSON(t *testing.T) {
	whole := result.Experiment{Schema: result.ExperimentSchema, ID: "c1", Trials: []result.Trial{trial("c1", 1, "a", 1).Trial, trial("c1", 2, "a", 2).Trial}}
	for _, c := range []struct {
		name string
		text []byte
		n    int
		want string
	}{
		{"a result", asJSON(t, load(1, 1).Trial.Run), 1, ""},
		{"an experiment", asJSON(t, whole), 2, ""},
		{"something else", []byte(`{"schema":"x"}`), 0, `the schema is "x", want prony.result/1 or prony.experiment/1`},
		{"no JSON", []byte(`wrk`), 0, "read result: invalid character"},
		{"a list", []byte(`[]`), 0, "read result"},
		{"a campaign that is a path", []byte(`{"schema":"prony.experiment/1","id":"/etc","trials":[{"schema":"prony.result/1","number":1}]}`), 0, "read result 1: campaign"},
	} {
		got, err := store.ReadJSON(c.text)
		if len(got) != c.n || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %d and %v, want %d and %q", c.name, len(got), err, c.n, c.want)
		}
	}
}

// FuzzReadBundle: no file does harm, and what is read can be kept and read again.
func FuzzReadBundle(f *testing.F) {
	f.Add(bundleOf(f, trial("c1", 1, "a", 1)))
	f.Add(zipped(f, "result.json", `{"schema":"prony.result/1"}`, "logs/a.log", "x"))
	s := open(f, filepath.Join(f.TempDir(), "store.db"))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := readBundle(file)
		if err != nil {
			return
		}
		tryKeep(t, s, r)
	})
}

// FuzzResult takes the zip away, so that the fuzzer reaches the result.
func FuzzResult(f *testing.F) {
	f.Add(asJSON(f, load(1, 1).Trial))
	f.Add([]byte(`{"schema":"prony.experiment/1","id":"c","trials":[{"schema":"prony.result/1","number":1}]}`))
	s := open(f, filepath.Join(f.TempDir(), "store.db"))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := store.ReadJSON(text)
		if err != nil {
			return
		}
		for _, r := range all {
			tryKeep(t, s, r)
		}
	})
}

// tryKeep puts a run, reads it back and takes it out.
func tryKeep(t *testing.T, s *store.Store, r store.Record) {
	t.Helper()
	ctx := context.Background()
	id, err := s.Put(ctx, r)
	if err != nil {
		return // refused, for instance since JSON cannot say it again
	}
	got, err := s.Get(ctx, id)
	if err != nil {
		t.Fatalf("what was kept cannot be read: %v", err)
	}
	var want result.Trial
	if err := json.Unmarshal(asJSON(t, r.Trial), &want); err != nil {
		t.Fatal(err)
	}
	if a, b := asJSON(t, want), asJSON(t, got.Trial); !bytes.Equal(a, b) {
		t.Errorf("got %s, want %s", b, a)
	}
	if err := s.Remove(ctx, id); err != nil {
		t.Fatal(err)
	}
}
