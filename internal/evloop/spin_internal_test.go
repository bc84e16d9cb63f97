package evloop

import "testing"

func TestSpinner(t *testing.T) {
	// Each step is one wait: what the poll found, if there was one.
	const hit, miss = true, false
	for _, c := range []struct {
		name   string
		budget int64
		finds  []bool
		want   int // polls before the first pause, of len(finds) waits
		used   bool
	}{
		{"never", 0, []bool{hit, hit}, 0, false},
		{"always hit", 100, []bool{hit, hit, hit, hit, hit, hit}, 6, true},
		{"gives up", 100, []bool{miss, miss, miss, miss, miss, miss}, spinMisses, false},
		{"a hit forgives", 100, []bool{miss, miss, miss, hit, miss, miss, miss, hit}, 8, true},
		{"misses in a row", 100, []bool{hit, miss, miss, miss, miss, miss}, 1 + spinMisses, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := spinner{budget: c.budget}
			polls := 0
			for _, found := range c.finds {
				switch got := s.start(); got {
				case 0:
				case c.budget:
					polls++
					s.done(found)
				default:
					t.Fatalf("start gives %d, want 0 or the budget %d", got, c.budget)
				}
			}
			if polls != c.want || s.used != c.used {
				t.Errorf("polled %d times, used %v; want %d, %v", polls, s.used, c.want, c.used)
			}
		})
	}
}

// A spinner that gave up tries again, or a load that becomes fast would never
// profit; but rarely, so that vain polling costs little.
func TestSpinnerTriesAgain(t *testing.T) {
	s := spinner{budget: 100}
	polls := 0
	const rounds = 10
	for range rounds * (spinMisses + spinPause) {
		if s.start() > 0 {
			polls++
			s.done(false)
		}
	}
	if want := rounds * spinMisses; polls != want {
		t.Errorf("polled %d times in vain, want %d", polls, want)
	}
}
