package e2e_test

import (
	"encoding/json"
	"os"
	"testing"

	"prony/internal/result"
)

func readExperiment(t *testing.T, file string) result.Experiment {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var e result.Experiment
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// needRoot skips where limits cannot be set, or fails where all must be there.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("PRONY_E2E") == "require" {
		t.Fatal("limits need root")
	}
	t.Skip("limits need root")
}
