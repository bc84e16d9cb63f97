package docker_test

import (
	"context"
	"os"
	"testing"

	"prony/internal/driver"
	"prony/internal/driver/docker"
	"prony/internal/driver/drivertest"
	"prony/internal/host"
	"prony/internal/plan"
)

func TestMain(m *testing.M) {
	done := drivertest.Engine()
	status := drivertest.Main(m, suites())
	done()
	os.Exit(status)
}

func suites() map[string]func() (drivertest.Suite, error) {
	return map[string]func() (drivertest.Suite, error){
		"published port": func() (drivertest.Suite, error) { return imageSuite("bridge", 8080) },
		"host network":   func() (drivertest.Suite, error) { return imageSuite("host", 0) },
		"program":        func() (drivertest.Suite, error) { return drivertest.Suite{Driver: newDriver(), Site: here()}, nil },
	}
}

func newDriver() *docker.Driver { return docker.New(docker.Config{}) }

func here() driver.Site { return driver.Site{Host: host.Local()} }

// imageSuite has the test binary in an image, as users have theirs.
func imageSuite(network string, port int) (drivertest.Suite, error) {
	d := newDriver()
	self, err := os.Executable()
	if err != nil {
		return drivertest.Suite{}, err
	}
	image, err := d.ImageOf(context.Background(), self)
	return drivertest.Suite{Driver: d, Site: here(), Service: func() plan.Service {
		return plan.Service{Name: "app", Kind: plan.Docker, Instances: 1,
			Docker: &plan.Container{Image: image, Command: []string{self, "${host}", "${port}"}, Network: network, Port: port}}
	}}, err
}

func TestConformance(t *testing.T) {
	drivertest.NeedEngine(t)
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
