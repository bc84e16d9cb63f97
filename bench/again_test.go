package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAgainKeepsTheRest(t *testing.T) {
	old := &report{Command: "first", Throughput: []comparison{{Name: "a", Server: "old"}, {Name: "b", Server: "old"}},
		Calls: []callRow{{}}, Skipped: []string{"x"}}
	file := filepath.Join(t.TempDir(), "page.json")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.writeJSON(f); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	now := &report{Command: "second", Throughput: []comparison{{Name: "b", Server: "new"}, {Name: "c", Server: "new"}}}
	if err := now.adopt(file); err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, c := range now.Throughput {
		got += c.Name + c.Server + " "
	}
	if got != "aold bnew cnew " || len(now.Calls) != 1 || now.Earlier == nil || now.Earlier.Command != "first" || len(now.Goals) == 0 {
		t.Errorf("got %s, %d calls, earlier %+v", got, len(now.Calls), now.Earlier)
	}
}
