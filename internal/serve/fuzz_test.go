package serve_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prony/internal/serve"
	"prony/internal/store"
)

// FuzzRecords: no upload does harm, and what is taken fits into a store whose
// answers can be encoded.
func FuzzRecords(f *testing.F) {
	good := resultText(f)
	for _, seed := range []string{"", "PK", good, zipped(f, "result.json", good), zipped(f, "result.json", good, "logs/a.log", "x", "campaign.json", `{"campaign": "c"}`),
		claiming(f, zipped(f, "result.json", good), 1<<30), zipped(f, "../x", "y"), `{"schema": "prony.experiment/1", "id": "c", "trials": [{"number": 1, "error": "x"}]}`} {
		f.Add([]byte(seed))
	}
	s, err := store.Open(f.Context(), filepath.Join(f.TempDir(), "store.db"), store.Config{})
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	const most = 1 << 20
	f.Fuzz(func(t *testing.T, upload []byte) {
		all, err := serve.Records(bytes.NewReader(upload), int64(len(upload)), most)
		if err != nil {
			return
		}
		for _, r := range all {
			id, err := s.Put(t.Context(), r)
			if err != nil {
				continue // refused for what it claims to be
			}
			kept, err := s.Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := json.Marshal(&kept.Trial); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzAudit: no text does harm, and what is said of it can be encoded.
func FuzzAudit(f *testing.F) {
	f.Add(wrkOutput, "audit: 1\nall:\n  cores: 2\n", "pasted limited by cpu")
	f.Add("", "shards: []", "")
	if files, err := filepath.Glob("../audit/testdata/*.txt"); err == nil {
		for _, file := range files[:min(5, len(files))] {
			if text, err := os.ReadFile(file); err == nil {
				f.Add(string(text), "", "")
			}
		}
	}
	f.Fuzz(func(t *testing.T, text, facts, claim string) {
		if len(text) > 1<<16 || len(facts) > 1<<12 {
			t.Skip("it is about what texts say, not how long they are")
		}
		report, err := serve.Audit(text, facts, strings.Fields(claim))
		if err != nil {
			return
		}
		if _, err := json.Marshal(report); err != nil {
			t.Error(err)
		}
	})
}
