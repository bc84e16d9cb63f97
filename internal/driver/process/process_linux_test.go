package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"prony/internal/driver"
	"prony/internal/driver/drivertest"
	"prony/internal/driver/process"
	"prony/internal/host"
)

// orders is the role of a copy of ourselves on another host.
const orders = "PRONY_TEST_ORDERS"

func TestMain(m *testing.M) {
	if os.Getenv(orders) != "" {
		if err := process.Serve(os.Stdin, os.Stdout); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(drivertest.Main(m, suites()))
}

// cacheVariable hands the cache to the process of a runner.
const cacheVariable = "PRONY_HOME"

func suites() map[string]func() (drivertest.Suite, error) {
	return map[string]func() (drivertest.Suite, error){
		"here": func() (drivertest.Suite, error) { return suite(here()) },
		"far":  func() (drivertest.Suite, error) { return suite(far()) },
		"no rights": func() (drivertest.Suite, error) {
			s, err := suite(powerless())
			s.Powerless = true
			return s, err
		},
	}
}

func suite(s driver.Site) (drivertest.Suite, error) {
	d, err := process.New(process.Config{Cache: filepath.Join(os.TempDir(), "prony-test-builds")})
	return drivertest.Suite{Driver: d, Site: s}, err
}

func here() driver.Site { return driver.Site{Host: host.Local()} }

// far takes the way of another host: a copy of ourselves does what has to be
// done there. The host is this machine all the same.
func far() driver.Site {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return driver.Site{Host: host.Local(), Name: "far", Address: "127.0.0.1", Self: []string{"env", orders + "=1", "GORACE=atexit_sleep_ms=0", self}}
}

// powerless is a host where nobody may make control groups.
func powerless() driver.Site {
	s := far()
	s.Self = []string{"sh", "-c", `cat >/dev/null; echo '{"error": "make control group: permission denied: run as root", "cause": "permission"}'`}
	return s
}

func TestConformance(t *testing.T) {
	t.Setenv(cacheVariable, t.TempDir())
	for name, make := range suites() {
		t.Run(name, func(t *testing.T) {
			s, err := make()
			if err != nil {
				t.Fatal(err)
			}
			drivertest.Run(t, name, s)
		})
	}
}
