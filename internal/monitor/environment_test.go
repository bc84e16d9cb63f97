package monitor_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"prony/internal/monitor"
	"prony/internal/result"
)

// fingerprinted is a machine with much to tell.
func fingerprinted(w *world) {
	w.write(map[string]string{
		"proc/cpuinfo": "processor : 0\nmodel name : Some CPU\nphysical id : 1\nmicrocode : 0x42\ncpu MHz : 2400.5\nflags : fpu avx2 hypervisor aes\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "powersave\n",
		"sys/devices/system/cpu/vulnerabilities/spectre_v2":               "Mitigation: Retpolines\n",
		"sys/kernel/mm/transparent_hugepage/enabled":                      "always [madvise] never\n",
		"etc/os-release":                   "NAME=x\nPRETTY_NAME=\"Some Linux 1\"\n",
		"proc/sys/net/core/somaxconn":      "128\n",
		"proc/sys/net/ipv4/tcp_rmem":       "4096\t131072\t6291456\n",
		"proc/sys/kernel/hostname":         "far-away\n",
		"proc/sys/kernel/arch":             "aarch64\n",
		"proc/self/limits":                 "Max open files 1024 unlimited files\n",
		"sys/class/net/eth0/queues/rx-0/a": "", "sys/class/net/eth0/queues/tx-0/a": "",
	})
}

func TestEnvironmentOfFiles(t *testing.T) {
	linux(t)
	w := newWorld(t)
	fingerprinted(w)
	far, err := monitor.WatchFiles(t.Context(), monitor.Request{}, batch{folders{disk{w.root}}, new(int)})
	if err != nil {
		t.Fatal(err)
	}
	e := far.Stop().Environment
	want := map[string]string{
		"clock_source": "tsc", "governor": "powersave", "mitigation_spectre_v2": "Mitigation: Retpolines", "huge_pages": "madvise",
		"distribution": "Some Linux 1", "sockets": "2", "microcode": "0x42", "cpu_flags": "avx2 hypervisor aes", "virtual": "true",
		"frequency_mhz": "2400", "nic_eth0_speed_mbit": "1000", "nic_eth0_mtu": "1500", "nic_eth0_queues": "2",
		"kernel_build": "Linux version 6.1.0 (builder) #1",
	}
	if !reflect.DeepEqual(e.Facts, want) {
		t.Errorf("facts: got %v, want %v", e.Facts, want)
	}
	if e.Hostname != "far-away" || e.Arch != "aarch64" || e.CPUs != 1 || e.CPUModel != "Some CPU" || e.Kernel != "6.1.0" || e.Memory != 1000<<10 {
		t.Errorf("got %+v", e)
	}
	if !reflect.DeepEqual(e.Sysctl, map[string]string{"net.core.somaxconn": "128", "net.ipv4.tcp_rmem": "4096 131072 6291456"}) {
		t.Errorf("settings: got %v", e.Sysctl)
	}
}

func TestEnvironmentHere(t *testing.T) {
	linux(t)
	e := monitor.Environment()
	for _, name := range []string{"kernel_build", "open_files_soft", "open_files_hard"} {
		if e.Facts[name] == "" {
			t.Errorf("got no %s in %v", name, e.Facts)
		}
	}
}

// TestPolls asks an endpoint that counts, and one that is not there.
func TestPolls(t *testing.T) {
	linux(t)
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := asked.Add(1)
		text := "# TYPE hits counter\nhits_total{path=\"/a}\\\"b\"} " + itoa(n*n*100) + " 1395066363000\n" +
			"# TYPE depth gauge\ndepth 7\n# TYPE lat histogram\nlat_bucket{le=\"1\"} 5\nlat_sum 3\nlat_count 5\n" +
			"envoy_cluster_upstream_rq_total{envoy_cluster_name=\"a\"} 10\nenvoy_cluster_upstream_rq_total{envoy_cluster_name=\"b\"} " + itoa(n*10) + "\n" +
			"envoy_http_downstream_cx_active{envoy_http_conn_manager_prefix=\"admin\"} 9\nenvoy_http_downstream_cx_active{envoy_http_conn_manager_prefix=\"in\"} 4\n"
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	w := newWorld(t)
	began := time.Now()
	watcher, err := monitor.Watch(t.Context(), monitor.Request{Root: w.root, Every: 100 * time.Millisecond, Services: []monitor.Target{
		{Name: "good", Metrics: []string{server.URL}},
		{Name: "gone", Stats: []string{server.URL + "/x"}, Metrics: []string{"http://127.0.0.1:1/metrics"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	await(t, watcher, func(all monitor.Snapshot) bool {
		return has(all, result.OfExported, "good") && has(all, result.OfServer, "good") && has(all, result.OfExported, "gone") && has(all, result.OfServer, "gone")
	})
	all := watcher.Stop().Cut(began, 0, time.Since(began))
	good := find(t, all, result.OfExported, "good")
	for _, metric := range []result.Metric{`hits_total{path="/a}\"b"}_rate`, "depth", "lat_count_rate", "lat_sum_rate"} {
		if !good.Has(metric) {
			t.Errorf("got %v, want %s", good.Series, metric)
		}
	}
	if good.Has("lat_bucket{le=\"1\"}") || good.Series["depth"][0] != 7 || good.Totals[`hits_total{path="/a}\"b"}_rate`] < 300 {
		t.Errorf("got %v, totals %v", good.Series, good.Totals)
	}
	shared := find(t, all, result.OfServer, "good")
	if got := shared.Series[result.ServerActive]; len(got) == 0 || got[0] != 4 {
		t.Errorf("active: got %v, want 4, without the administration's", got)
	}
	if got := shared.Totals[result.UpstreamRequests]; got < 9 {
		t.Errorf("upstream requests: got %v, want some 10 each time", got)
	}
	for _, kind := range []string{result.OfExported, result.OfServer} {
		gone := find(t, all, kind, "gone")
		if gone.Unknown["answer"] == "" || gone.Window(monitor.Up, 1e9).Max() != 0 {
			t.Errorf("%s: got %+v, want a reason", kind, gone)
		}
	}
}

func has(all monitor.Snapshot, kind, name string) bool {
	for _, o := range all {
		if o.Kind == kind && o.Name == name && len(o.Series) > 0 {
			return true
		}
	}
	return false
}

// await looks at what is live until it is as it should be.
func await(t *testing.T, w *monitor.Watcher, good func(monitor.Snapshot) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for !good(w.Live()) {
		select {
		case <-ctx.Done():
			t.Fatalf("it did not come: %v", w.Live())
		case <-ticker.C:
		}
	}
}

// TestFactsAreShort: no fact may be a whole file.
func TestFactsAreShort(t *testing.T) {
	for name, value := range monitor.Environment().Facts {
		if len(value) > 4096 || strings.Contains(value, "\n") {
			t.Errorf("%s: got %d bytes", name, len(value))
		}
	}
}
