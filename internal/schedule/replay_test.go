package schedule_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"prony/internal/schedule"
)

func TestReadReplay(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []int64
	}{
		{"seconds", "0\n1\n1.5\n", []int64{0, 1e9, 1500e6}},
		{"units", "250us\n1ms\n1m0.5s\n1h\n", []int64{250e3, 1e6, 60500e6, 3600e9}},
		{"a number can end in a point", "1.", []int64{1e9}},
		{"comments, empty lines, spaces, carriage returns", "# recorded\n\n  0.1 \r\n\t# more\n0.2", []int64{100e6, 200e6}},
		{"many digits are read exactly", "1700000000.123456789", []int64{1700000000123456789}},
		{"exponents", "5e-05\n1E3", []int64{50e3, 1000e9}},
		{"equal times", "1\n1", []int64{1e9, 1e9}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := schedule.ReadReplay(strings.NewReader(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			sameTimes(t, a.Times, tc.want)
			sameMistakes(t, a.Validate(), nil)
		})
	}
}

func TestReadReplayMistakes(t *testing.T) {
	const wanted = ": want seconds from the origin, or a number with a unit, like 1.25 or 1250ms"
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "# nothing\n", []string{"read replay: no times in it"}},
		{"every line is named", "0.1\nsoon\n\n-1\n0.05\n1e999\n0x1p-2e\n5 apples\n0.2", []string{
			`read replay line 2: time "soon"` + wanted,
			`read replay line 4: time "-1"` + wanted,
			`read replay line 5: 50ms is before 100ms`,
			`read replay line 6: time "1e999"` + wanted,
			`read replay line 7: time "0x1p-2e"` + wanted,
			`read replay line 8: time "5 apples"` + wanted,
		}},
		{"beyond all time", "1e18\n20000000000", []string{
			`read replay line 1: time "1e18"` + wanted, `read replay line 2: time "20000000000"` + wanted}},
		{"a line too long", "1\n" + strings.Repeat("9", 1<<17), []string{"read replay line 2: bufio.Scanner: token too long"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := schedule.ReadReplay(strings.NewReader(tc.text))
			sameMistakes(t, err, tc.want)
			if a.Open() {
				t.Errorf("got arrivals %v with a mistake", a.Times)
			}
		})
	}
}

func TestReadReplayIsBounded(t *testing.T) {
	_, err := schedule.ReplayUpTo(strings.NewReader("1\n2\n3\n4\n"), 2)
	sameMistakes(t, err, []string{"read replay line 3: more than 2 times"})
	_, err = schedule.ReadReplay(strings.NewReader(strings.Repeat("x\n", 1000)))
	if got := strings.Count(err.Error(), "\n") + 1; got != 21 {
		t.Errorf("lines: got %d, want 20 mistakes and the remark that there are more", got)
	}
}

func TestReadReplayPassesOnErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := schedule.ReadReplay(io.MultiReader(strings.NewReader("1\n2\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v in it", err, broken)
	}
}

func FuzzReadReplay(f *testing.F) {
	for _, seed := range []string{"0\n1.5\n2s\n", "# c\n1e-3", "1h\n\n\n", "-0", "9e9", "1e0x", "\ufeff1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := schedule.ReadReplay(strings.NewReader(text))
		if err != nil {
			return
		}
		if err := a.Validate(); err != nil {
			t.Fatalf("an accepted file is not valid: %v", err)
		}
		var again strings.Builder
		for _, at := range a.Times {
			again.WriteString(time.Duration(at).String() + "\n")
		}
		b, err := schedule.ReadReplay(strings.NewReader(again.String()))
		if err != nil {
			t.Fatal(err)
		}
		sameTimes(t, b.Times, a.Times)
	})
}
