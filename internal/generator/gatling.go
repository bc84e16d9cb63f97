package generator

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// What is built once: Gatling of one version, and a simulation that takes its
// load from properties.
var (
	//go:embed gatling/pom.xml
	gatlingPOM []byte
	//go:embed gatling/Users.java
	gatlingUsers []byte
	//go:embed gatling/logback.xml
	gatlingLog []byte
)

func gatling() Program {
	return Program{
		Name: "gatling", Install: "apt-get install default-jdk-headless maven", needs: []string{"java", "mvn"}, build: buildGatling,
		Can: Ability{NoOpen: "it is run with users in a closed loop", Step: time.Millisecond, TimeoutStep: time.Millisecond, NoKeepAlive: true,
			Body: true, Host: true, Head: true, SameHeader: true, EmptyHeader: true, Interrupt: true},
		Doubt: "Gatling's virtual machine starts cold in each run, its CPU time holds that start, and it prints whole milliseconds and whole seconds",
	}
}

// buildGatling is "java … io.gatling.app.Gatling -s prony.Users -nr", which
// loads, and "-ro", which makes the report of its log: apart, so that the report
// is in nobody's CPU time, and so that there is one when the load was stopped,
// where Gatling itself would make none.
func buildGatling(w work) (job, error) {
	home, err := gatlingHome(w)
	if err != nil {
		return job{}, err
	}
	body, err := w.file("body", w.q.Body)
	if err != nil {
		return job{}, err
	}
	var headers []string
	for i, h := range w.headers("", w.closing()...) {
		if i%2 == 1 {
			headers = append(headers, h)
		}
	}
	fields, err := w.file("headers", []byte(strings.Join(headers, "\n")))
	if err != nil {
		return job{}, err
	}
	results := filepath.Join(w.dir, "results")
	jvm := []string{"-Xmx1G", "--add-opens=java.base/java.lang=ALL-UNNAMED", "-Duser.language=en", "-Duser.country=US",
		"-cp", filepath.Join(home, "target", "classes") + string(filepath.ListSeparator) + filepath.Join(home, "lib", "*")}
	if len(w.l.Cores) == 1 || runtime.NumCPU() == 1 {
		// With one processor its only thread waits for what it would have to do
		// itself, and after five seconds for ever.
		jvm = append([]string{"-XX:ActiveProcessorCount=2"}, jvm...)
	}
	load, err := w.command("java", append(jvm, "-Dgatling.http.requestTimeout="+strconv.FormatInt(w.timeout().Milliseconds(), 10),
		"-Dprony.url="+w.url, "-Dprony.method="+w.q.Method, "-Dprony.users="+strconv.Itoa(w.l.Connections),
		"-Dprony.ms="+strconv.FormatInt(w.l.Duration.Milliseconds(), 10), "-Dprony.body="+body, "-Dprony.headers="+fields,
		"io.gatling.app.Gatling", "-s", "prony.Users", "-rf", results, "-nr")...)
	report := func() (command, error) {
		logs, err := filepath.Glob(filepath.Join(results, "*", "simulation.log"))
		if err != nil || len(logs) == 0 {
			return command{}, errors.New("it left no simulation.log")
		}
		return w.command("java", append(jvm[:len(jvm):len(jvm)], "io.gatling.app.Gatling", "-rf", results, "-ro", filepath.Base(filepath.Dir(logs[0])))...)
	}
	return job{load: load, report: report, began: "Simulation prony.Users started"}, err
}

// gatlingHome is the folder with Gatling and the simulation, built when it is
// not there. It appears whole or not at all; its name says what is in it.
func gatlingHome(w work) (string, error) {
	sum := sha256.New()
	for _, part := range [][]byte{gatlingPOM, gatlingUsers, gatlingLog} {
		sum.Write(part)
	}
	home := filepath.Join(w.home, "gatling-"+hex.EncodeToString(sum.Sum(nil))[:12])
	if _, err := os.Stat(home); err == nil {
		return home, nil
	}
	if err := os.MkdirAll(w.home, 0o755); err != nil {
		return "", fmt.Errorf("build Gatling: %w", err)
	}
	fresh, err := os.MkdirTemp(w.home, "build-")
	if err != nil {
		return "", fmt.Errorf("build Gatling: %w", err)
	}
	defer os.RemoveAll(fresh)
	if err := buildGatlingIn(w, fresh); err != nil {
		return "", fmt.Errorf("build Gatling: %w", err)
	}
	if err := os.Rename(fresh, home); err != nil {
		if _, there := os.Stat(home); there != nil { // nobody else was faster
			return "", fmt.Errorf("build Gatling: %w", err)
		}
	}
	return home, nil
}

// gatlingPatience bounds the build, which loads about a hundred files.
const gatlingPatience = 10 * time.Minute

func buildGatlingIn(w work, dir string) error {
	java, resources := filepath.Join(dir, "src", "main", "java", "prony"), filepath.Join(dir, "src", "main", "resources")
	for _, d := range []string{java, resources} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	for file, text := range map[string][]byte{filepath.Join(dir, "pom.xml"): gatlingPOM, filepath.Join(java, "Users.java"): gatlingUsers,
		filepath.Join(resources, "logback.xml"): gatlingLog} {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	mvn, err := w.find("mvn")
	if err != nil {
		return fmt.Errorf("find mvn: %w", err)
	}
	ctx, cancel := context.WithTimeout(w.ctx, gatlingPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "compile", "dependency:copy-dependencies", "-DoutputDirectory=lib")
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run mvn: %w: %s", err, firstLines(string(out)))
	}
	return nil
}
