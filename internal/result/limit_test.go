package result_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"prony/internal/result"
)

func TestLimitName(t *testing.T) {
	for _, c := range []struct{ what, where, want string }{
		{"cpu-quota", "app[0]", "CPU quota of app"},
		{"cpu-quota", "", "CPU quota"},
		{"target-cpu", "gateway[12]", "CPU of gateway"},
		{"host-cpu", "this machine", "CPU of this machine"},
		{"foreign-cpu", "this machine", "other programs"},
		{"generator-cpu", "generator", "CPU of the generator"},
		{"accept-queue", "app[1]", "accept queue of app"},
		{"bandwidth", "db-1/eth0", "bandwidth of db-1/eth0"},
		{"garbage-collection", "app[0]", "garbage collection of app"},
		{"connections", "pool", "number of connections"},
		{"not-identified", "target", "not identified"},
		{"", "", "not identified"},
	} {
		if got := result.LimitName(c.what, c.where); got != c.want {
			t.Errorf("LimitName(%q, %q) = %q, want %q", c.what, c.where, got, c.want)
		}
	}
	var none *result.Bottleneck
	if got := none.Short(); got != "not identified" {
		t.Errorf("nothing: got %q", got)
	}
}

// TestLimitNameOfThePage holds the file of answers, which the page's own test
// reads too, to this package.
func TestLimitNameOfThePage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "web", "testdata", "limits.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []struct{ What, Where, Name string }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) < 25 {
		t.Fatalf("the file has %d answers", len(all))
	}
	for _, one := range all {
		if got := result.LimitName(one.What, one.Where); got != one.Name {
			t.Errorf("LimitName(%q, %q) = %q, the page has %q", one.What, one.Where, got, one.Name)
		}
	}
}
