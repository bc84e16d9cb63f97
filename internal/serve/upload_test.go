package serve_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"prony/internal/result"
	"prony/internal/serve"
	"prony/internal/store"
)

// zipped is a zip of files, in the order of the names and texts.
func zipped(t testing.TB, namesAndTexts ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(namesAndTexts); i += 2 {
		w, err := z.Create(namesAndTexts[i])
		if err == nil {
			_, err = io.WriteString(w, namesAndTexts[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// claiming changes what the directory of a zip of one file says of its length.
func claiming(t testing.TB, file string, length uint32) string {
	t.Helper()
	b := []byte(file)
	i := bytes.LastIndex(b, []byte("PK\x01\x02"))
	if i < 0 {
		t.Fatal("there is no directory")
	}
	binary.LittleEndian.PutUint32(b[i+24:], length)
	return string(b)
}

func resultText(t testing.TB) string {
	t.Helper()
	r := run(20, 700)
	b, err := json.Marshal(&r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestImport(t *testing.T) {
	f := filled(t, config())
	var kept struct{ Runs []store.RunID }
	f.call(t, "POST", "/api/import", resultText(t), 201, &kept)
	if len(kept.Runs) != 1 {
		t.Fatalf("got %+v", kept)
	}
	// A bundle that was handed out comes back as the run that it is.
	a := f.call(t, "GET", "/api/runs/"+string(f.trial[3])+"/bundle", "", 200, nil)
	kept.Runs = nil
	f.call(t, "POST", "/api/import", a.body, 201, &kept)
	if len(kept.Runs) != 1 || kept.Runs[0] != f.trial[3] {
		t.Errorf("got %v, want the run that was there", kept.Runs)
	}
	other := start(t, config())
	other.call(t, "POST", "/api/import", a.body, 201, nil)
	var e result.Experiment
	other.call(t, "GET", "/api/campaigns/last", "", 200, &e)
	if e.ID != campaignID || len(e.Trials) != 1 {
		t.Errorf("got %s with %d trials", e.ID, len(e.Trials))
	}
	// An experiment comes as all of its trials.
	all := f.call(t, "GET", "/api/campaigns/last", "", 200, nil).body
	kept.Runs = nil
	start(t, config()).call(t, "POST", "/api/import", all, 201, &kept)
	if len(kept.Runs) != 12 {
		t.Errorf("got %d runs, want 12", len(kept.Runs))
	}
}

// TestImportRefuses: what is hostile is told apart before it costs anything, and
// nothing of it is kept.
func TestImportRefuses(t *testing.T) {
	c := config()
	c.Limits = serve.Limits{Upload: 1 << 20, Unpacked: 4 << 20}
	f := start(t, c)
	good := resultText(t)
	zeros := strings.Repeat("\x00", 8<<20)
	many := []string{"result.json", good}
	for i := range 1001 {
		many = append(many, "logs/"+strings.Repeat("a", 1+i%50)+string(rune('0'+i/50))+".log", "")
	}
	for name, c := range map[string]struct {
		body, want string
		status     int
	}{
		"nothing":                   {"", "no .prony file", 422},
		"one byte":                  {"P", "no .prony file", 422},
		"no JSON":                   {"hello", "read result", 422},
		"another JSON":              {`{"schema": "x/1"}`, "the schema is", 422},
		"a zip's beginning":         {"PK\x03\x04", "not a valid zip", 422},
		"half a zip":                {zipped(t, "result.json", good)[:200], "not a valid zip", 422},
		"no result":                 {zipped(t, "campaign.json", "{}"), "no result.json", 422},
		"a bomb":                    {zipped(t, "result.json", zeros), "longer than", 422},
		"bombs together":            {zipped(t, "logs/a.log", zeros[:3<<20], "logs/b.log", zeros[:3<<20]), "longer than", 422},
		"a bomb that claims less":   {claiming(t, zipped(t, "result.json", zeros), 10), "not a valid zip file", 422},
		"a small file claiming 1GB": {claiming(t, zipped(t, "result.json", good), 1<<30), "longer than", 422},
		"a file claiming more":      {claiming(t, zipped(t, "result.json", good), 1<<20), "unexpected EOF", 422},
		"a way up":                  {zipped(t, "../../etc/passwd", "x", "result.json", good), "no name of a file", 422},
		"a way up among logs":       {zipped(t, "logs/../../x.log", "x", "result.json", good), "no name of a file", 422},
		"a way up by backslashes":   {zipped(t, `logs\..\x.log`, "x", "result.json", good), "no name of a file", 422},
		"an absolute name":          {zipped(t, "/etc/passwd", "x", "result.json", good), "no name of a file", 422},
		"a folder in a log's name":  {zipped(t, "logs/a/b.log", "x", "result.json", good), "without folders", 422},
		"a name twice":              {zipped(t, "result.json", good, "result.json", good), "there twice", 422},
		"too many files":            {zipped(t, many...), "at most 1000", 422},
		"a campaign that is a path": {zipped(t, "result.json", `{"number": 1,`+good[1:], "campaign.json", `{"campaign": "../../x"}`), "not accepted", 422},
		"too long":                  {strings.Repeat("x", 1<<20+1), "longer than 1048576 bytes", 413},
		"too long without a length": {"chunked", "longer than 1048576 bytes", 413},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.request(t, "POST", "/api/import", c.body)
			if c.body == "chunked" {
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat("x", 2<<20))), -1
			}
			a := f.send(t, r)
			if a.StatusCode != c.status || !strings.Contains(a.body, c.want) {
				t.Errorf("got %d %s, want %d and %q", a.StatusCode, a.body, c.status, c.want)
			}
			described(t).check(t, "POST", "/api/import", a)
		})
	}
	var l store.List
	f.call(t, "GET", "/api/runs", "", 200, &l)
	if l.Total != 0 {
		t.Errorf("%d runs were kept of all that", l.Total)
	}
}

// TestBodies: bounded, of their type, and of one form.
func TestBodies(t *testing.T) {
	c := config()
	c.Limits = serve.Limits{Body: 1 << 10, Audit: 2 << 10}
	c.Run = newPlay().run
	f := filled(t, c)
	id := string(f.load)
	long := `{"text": "` + strings.Repeat("x", 4<<10) + `"}`
	for _, route := range serve.Routes() {
		method, path, _ := strings.Cut(route, " ")
		if method == "GET" || method == "DELETE" || strings.HasSuffix(path, "/stop") || path == "/api/import" {
			continue
		}
		path = strings.ReplaceAll(path, "{id}", id)
		f.refused(t, method, path, long, http.StatusRequestEntityTooLarge, "longer than")
		f.refused(t, method, path, `[]`, http.StatusBadRequest, "read the body")
		f.refused(t, method, path, strings.Repeat(`{"a":`, 200), http.StatusBadRequest, "read the body")
		r := f.request(t, method, path, `{}`)
		r.Header.Set("Content-Type", "text/plain")
		a := f.send(t, r)
		if a.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("%s as text: status %d", route, a.StatusCode)
		}
		described(t).check(t, method, path, a)
	}
}

// TestIDsAreNoPaths: an id is looked up and never opened.
func TestIDsAreNoPaths(t *testing.T) {
	f := filled(t, config())
	for _, id := range []string{"..%2f..%2fetc%2fpasswd", "%2e%2e%2f%2e%2e", "..%5c..%5cx", "%00", "a%00b", "%ff%fe", "%25", "*", "'", "k3f;drop", strings.Repeat("9", 4000)} {
		for _, route := range serve.Routes() {
			method, path, _ := strings.Cut(route, " ")
			if !strings.Contains(path, "{id}") {
				continue
			}
			body := ""
			if method == "POST" || method == "PUT" {
				body = map[string]string{"tags": `{"tags": ["x"]}`, "name": `{"name": "x"}`, "notes": `{"text": "x"}`}[path[strings.LastIndex(path, "/")+1:]]
			}
			a := f.send(t, f.request(t, method, strings.NewReplacer("{id}", id, "{tag}", id).Replace(path), body))
			if a.StatusCode != 404 || a.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s with %.40s: status %d, %s", route, id, a.StatusCode, a.body)
			}
		}
	}
}
