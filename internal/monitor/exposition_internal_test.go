package monitor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prony/internal/result"
)

func TestExpositionKinds(t *testing.T) {
	e := newExposition()
	for _, line := range []string{"# TYPE c counter", "# TYPE g_total gauge", "# TYPE h histogram", "# TYPE s summary", "# HELP x y", "# TYPE odd"} {
		e.comment([]byte(line))
	}
	for name, want := range map[string]string{
		"c": "counter", "c_total": "counter", "g_total": "gauge", "h_bucket": "bucket", "h_sum": "counter", "h_count": "counter",
		"s": "gauge", "s_sum": "counter", "unknown": "gauge", "unknown_total": "counter", "unknown_bucket": "bucket", "c_created": "bucket",
	} {
		if got := e.kind(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestExpositionBound: an endpoint with very many series fills no memory.
func TestExpositionBound(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "m{i=\"%d\"} %d\n", i, i)
	}
	e, m, r := newExposition(), newMeter(1, Head{Kind: result.OfExported}), newRecorder(time.Now())
	for i := range 3 {
		m.begin(time.Duration(i) * time.Second)
		if err := e.read(m, []byte(text.String())); err != nil {
			t.Fatal(err)
		}
		m.end(time.Duration(i)*time.Second, r)
	}
	track := r.recording().Tracks[0]
	if len(track.Series) != seriesMax || !strings.Contains(track.Unknown["series"], "800") {
		t.Errorf("got %d series, unknown %v, want %d and a word on 800", len(track.Series), track.Unknown, seriesMax)
	}
}

func TestExpositionMalformed(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "a page": "<html><body>no</body></html>", "no value": "a{b=\"c\"}\n", "open labels": "a{b=\"}\" 1\n", "a word": "a b\n", "no name": "{} 1\n",
	} {
		if err := newExposition().read(newMeter(1, Head{}), []byte(text)); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func FuzzExposition(f *testing.F) {
	f.Add([]byte("# TYPE a counter\na_total{b=\"c\\\"}\"} 1 2\nb NaN\nc +Inf\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, m, r := newExposition(), newMeter(1, Head{}), newRecorder(time.Now())
		for i := range 2 {
			m.begin(time.Duration(i) * time.Second)
			_ = e.read(m, text)
			e.server(m)
			m.end(time.Duration(i)*time.Second, r)
		}
		if len(e.series) > seriesMax {
			t.Errorf("got %d series", len(e.series))
		}
	})
}

func FuzzStub(f *testing.F) {
	f.Add([]byte("Active connections: 2 \nserver accepts handled requests\n 16 16 31 \nReading: 0 Writing: 1 Waiting: 1 \n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := newMeter(1, Head{})
		m.begin(0)
		if err := readStub(m, text); err != nil && len(m.points) > 0 {
			t.Errorf("got %v and %v", m.points, err)
		}
	})
}

// FuzzGroupMounts: what is found lies in the mount.
func FuzzGroupMounts(f *testing.F) {
	f.Add("31 23 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n34 23 0:31 /a /m rw - cgroup2 cgroup2 rw\n", "1:cpu:/x\n0::/a/b\n")
	f.Fuzz(func(t *testing.T, mounts, members string) {
		all := groupMounts(mounts)
		for _, controller := range []string{"cpu", ""} {
			p := placeOf(controller, strings.Split(members, "\n"), all)
			if p.dir != "" && p.version == 0 {
				t.Errorf("got %+v", p)
			}
		}
	})
}

func TestPlaceOf(t *testing.T) {
	const v1 = "31 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
	const v2 = "34 23 0:31 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	for _, c := range []struct{ name, mounts, members, controller, want string }{
		{"version 1", v1, "4:cpu,cpuacct:/a\n0::/b", "cpu", "/sys/fs/cgroup/cpu,cpuacct/a"},
		{"version 2", v2, "0::/a/b", "cpu", "/sys/fs/cgroup/a/b"},
		{"hybrid, of version 2", v1 + v2, "4:cpu,cpuacct:/a\n0::/b", "", "/sys/fs/cgroup/b"},
		{"hybrid, not in version 1", v1 + v2, "4:cpu,cpuacct:/a\n0::/b", "memory", "/sys/fs/cgroup/b"},
		{"a colon in the name", v2, "0::/a:b", "cpu", "/sys/fs/cgroup/a:b"},
		{"the root is the machine", v2, "0::/", "cpu", ""},
		{"not mounted", v2, "4:cpu:/a", "cpu", ""},
		{"a part is mounted", "34 23 0:31 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/docker/x/y", "cpu", "/sys/fs/cgroup/y"},
		{"outside of what is mounted", "34 23 0:31 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/other", "cpu", ""},
		{"another view", v2, "0::/../a", "cpu", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := placeOf(c.controller, strings.Split(c.members, "\n"), groupMounts(c.mounts)); got.dir != c.want {
				t.Errorf("got %+v, want %q", got, c.want)
			}
		})
	}
}
