package catalog_test

import (
	"reflect"
	"strings"
	"testing"

	"prony/internal/catalog"
)

const stubPage = "Active connections: 291 \nserver accepts handled requests\n 16630948 16630946 31070465 \nReading: 6 Writing: 179 Waiting: 106 \n"

const haproxyPage = "# pxname,svname,qcur,stot,econ,eresp,connect,\n" +
	"in,FRONTEND,,9,,,,\n" +
	"app,one,0,4,1,2,3,\n" +
	"app,\"two, too\",0,5,,,,\n" +
	"app,BACKEND,0,9,1,2,3,\n"

const pronyPage = `{"upstreams":[{"address":"a:1","requests":3,"connections":2,"failures":1,"active":0},{"address":"b:2","requests":4}]}`

func TestCounters(t *testing.T) {
	cases := map[string]struct {
		format catalog.CounterFormat
		text   string
		want   []catalog.Counter
	}{
		"nginx":   {catalog.StubStatus, stubPage, []catalog.Counter{{Requests: 31070465, Connections: 16630948, Failures: -1}}},
		"haproxy": {catalog.HAProxyCSV, haproxyPage, []catalog.Counter{{"one", 4, 3, 3}, {"two, too", 5, -1, -1}}},
		"prony":   {catalog.PronyJSON, pronyPage, []catalog.Counter{{"a:1", 3, 2, 1}, {"b:2", 4, -1, -1}}},
		"server":  {catalog.PronyJSON, `{"requests":7}`, []catalog.Counter{{"", 7, -1, -1}}},
		"no load": {catalog.PronyJSON, `{"upstreams":[]}`, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := c.format.Parse([]byte(c.text))
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, error %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestCountersRefuse(t *testing.T) {
	cases := map[string]struct {
		format catalog.CounterFormat
		text   string
	}{
		"a page of something else": {catalog.StubStatus, "<html>"}, "no titles": {catalog.HAProxyCSV, "a,b\n1,2\n"},
		"nothing": {catalog.HAProxyCSV, ""}, "broken CSV": {catalog.HAProxyCSV, "# svname,stot\n\"a"}, "not JSON": {catalog.PronyJSON, "x"},
		"other JSON": {catalog.PronyJSON, "{}"}, "unknown": {"prometheus", stubPage},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := c.format.Parse([]byte(c.text))
			if err == nil || !strings.HasPrefix(err.Error(), "read counters as "+string(c.format)+": ") {
				t.Errorf("got %+v, error %v", got, err)
			}
		})
	}
}

func FuzzCounters(f *testing.F) {
	for _, text := range []string{stubPage, haproxyPage, pronyPage} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []catalog.CounterFormat{catalog.StubStatus, catalog.HAProxyCSV, catalog.PronyJSON} {
			all, err := format.Parse([]byte(text))
			for _, c := range all {
				if err != nil || c.Requests < -1 || c.Connections < -1 {
					t.Errorf("%s: got %+v, error %v", format, c, err)
				}
			}
		}
	})
}
