package catalog_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prony/internal/catalog"
)

// finder finds everything but what is named.
func finder(missing ...string) catalog.Finder {
	return func(n catalog.Need) (catalog.Found, error) {
		if slices.Contains(missing, n.Name) {
			return catalog.Found{}, fmt.Errorf("no %s", n.Name)
		}
		return catalog.Found{Path: "/found/" + n.Name, Stamp: "1"}, nil
	}
}

func place(more ...func(*catalog.Place)) catalog.Place {
	p := catalog.Place{Port: 8080, Work: "/work dir", Cache: "/cache", Prony: "/bin/prony", User: "me", Group: "us", Find: finder()}
	for _, f := range more {
		f(&p)
	}
	return p
}

func upstreams(p *catalog.Place) { p.Upstreams = []string{"10.0.0.1:80", "10.0.0.2:80"} }
func inImage(p *catalog.Place)   { p.Image = true }

// rendered is a rendering as a text.
func rendered(files catalog.Files, c catalog.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "dir %s\nargs %q\nenv %q\n", c.Dir, c.Args, c.Env)
	if c.Image != nil {
		fmt.Fprintf(&b, "image %q dockerfile %q output %q\n", c.Image.Name, c.Image.Dockerfile, c.Image.Output)
	}
	if c.Build != nil {
		fmt.Fprintf(&b, "build %q\nenv %q\noutput %s\n", c.Build.Args, c.Build.Env, c.Build.Output)
		for _, f := range c.Build.Files {
			fmt.Fprintf(&b, "takes %s %v\n", f.Name, f.Mode)
		}
	}
	for _, f := range files {
		fmt.Fprintf(&b, "---- %s %v\n%s", f.Name, f.Mode, f.Text)
	}
	return b.String()
}

// TestRenderOurs renders every entry at its defaults, and gateways also with
// connections not kept.
func TestRenderOurs(t *testing.T) {
	for _, e := range ours(t).Entries() {
		cases := map[string]map[string]string{e.Name: nil}
		p := place()
		if e.Kind == catalog.Gateway {
			upstreams(&p)
			cases[e.Name+"-keepalive-off"] = map[string]string{"keepalive": "off"}
		}
		for name, params := range cases {
			t.Run(name, func(t *testing.T) {
				files, command, err := e.Render(params, p)
				if err != nil {
					t.Fatal(err)
				}
				golden(t, name+".rendered", rendered(files, command))
			})
		}
		if e.Image == nil {
			continue
		}
		t.Run(e.Name+" in an image", func(t *testing.T) {
			inImage(&p)
			files, command, err := e.Render(nil, p)
			if err != nil {
				t.Fatal(err)
			}
			text := rendered(files, command)
			if strings.Contains(text, "/work dir") || e.Build == nil && strings.Contains(text, "/found/") {
				t.Errorf("the container is told of folders and programs of this machine:\n%s", text)
			}
		})
	}
}

func TestRenderMistakes(t *testing.T) {
	cases := map[string]struct {
		entry  string
		params map[string]string
		place  catalog.Place
		want   []string
	}{
		"unknown parameter": {"nginx", map[string]string{"worker": "2"}, place(upstreams),
			[]string{"unknown parameter worker, did you mean workers? (allowed: workers, affinity, "}},
		"values": {"nginx", map[string]string{"workers": "many", "gzip": "of"}, place(upstreams),
			[]string{`parameter gzip: unknown value "of", did you mean off? (allowed: on, off)`, `parameter workers: "many" does not look like auto|[1-9][0-9]{0,3}`}},
		"line break":     {"go-http", map[string]string{"gomaxprocs": "1\n"}, place(), []string{"holds a line break"}},
		"no upstream":    {"nginx", nil, place(), []string{"render catalog entry nginx: a gateway needs at least one upstream"}},
		"an upstream":    {"hello", nil, place(upstreams), []string{"it is no gateway"}},
		"odd upstream":   {"nginx", nil, place(func(p *catalog.Place) { p.Upstreams = []string{"a:1; x"} }), []string{`upstream "a:1; x": want host:port`}},
		"place":          {"iris", nil, catalog.Place{}, []string{"port 0: want 1 to 65535", `work folder "": want`, `folder of builds "": want`}},
		"no image":       {"hello", nil, place(inImage), []string{"it has no image to run in a container"}},
		"missing":        {"nginx", nil, place(upstreams, func(p *catalog.Place) { p.Find = finder("nginx") }), []string{"catalog entry nginx needs nginx (no nginx; to get it: apt-get install -y nginx)"}},
		"missing either": {"openresty", nil, place(func(p *catalog.Place) { p.Find = finder("openresty", "lua_module") }), []string{"needs openresty (no openresty; ", "; or lua_module (no lua_module; to get it: apt-get install -y libnginx-mod-http-lua)"}},
		"missing tools":  {"go-http", nil, place(func(p *catalog.Place) { p.Find = finder("go") }), []string{"needs go (no go; to get it: apt-get install -y golang-go)"}},
	}
	c := ours(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, err := c.Entry(tc.entry)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = e.Render(tc.params, tc.place)
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got error %v, want %q in it", err, want)
				}
			}
			var missing *catalog.MissingError
			if got := errors.As(err, &missing); got != strings.HasPrefix(name, "missing") {
				t.Errorf("counts as missing from the machine: %t", got)
			}
		})
	}
}

func TestVariantFollowsWhatIsThere(t *testing.T) {
	e, err := ours(t).Entry("openresty")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		missing, program, first string
	}{
		"openresty": {"", "/found/openresty", "\n"},
		"nginx":     {"openresty", "/found/nginx", "load_module /found/ndk_module; load_module /found/lua_module;\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			files, command, err := e.Render(nil, place(func(p *catalog.Place) { p.Find = finder(c.missing) }))
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(files, func(f catalog.File) bool { return f.Name == "entry/nginx.conf" })
			if i < 0 || command.Args[0] != c.program || !strings.Contains(string(files[i].Text), "parameter.\n"+c.first) {
				t.Errorf("got %q with %s, want %s and the line %q", command.Args, files[max(i, 0)].Text, c.program, c.first)
			}
		})
	}
}

// maven is an entry such as Java targets have.
const maven = `description: a Maven build
kind: app
needs:
  jdk: {jdk: 21, install: apt-get install -y openjdk-21-jdk-headless}
  mvn: {program: mvn, install: apt-get install -y maven}
build:
  needs: [jdk, mvn]
  command: ${mvn} -q -B package -Dboot=${boot}
  env: {JAVA_HOME: "${jdk}"}
  inputs: [pom.xml, src]
  output: target/app.jar
run:
  needs: [jdk]
  command: ${jdk}/bin/java ${java_opts...} -jar ${output} --server.port=${port}
image: {dockerfile: Dockerfile}
routes: [{path: /}]
parameters:
  boot: {default: 3.5.7, doc: version of Spring Boot}
  java_opts: {default: -Xms1g -Xmx1g, doc: options of the virtual machine}
`

func TestMavenBuild(t *testing.T) {
	_, err := catalog.Open(folder(map[string]string{"j/target.yaml": maven, "j/pom.xml.tmpl": "<v>${boot}</v>\n", "j/src/App.java": "class App {}\n",
		"j/target/app.jar": "left by hand", "j/Dockerfile": "FROM x\n", "j/application.properties.tmpl": "port=${port}\n"}))
	if err == nil || !strings.Contains(err.Error(), `"pom.xml" is no file or folder of the entry`) {
		t.Fatalf("got error %v: an input is named as the file is", err)
	}
	c, err := catalog.Open(folder(map[string]string{"j/target.yaml": strings.Replace(maven, "pom.xml", "pom.xml.tmpl", 1), "j/pom.xml.tmpl": "<v>${boot}</v>\n",
		"j/src/App.java": "class App {}\n", "j/target/app.jar": "left by hand", "j/Dockerfile": "FROM x\n", "j/application.properties.tmpl": "port=${port}\n"}))
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Entry("j")
	if err != nil {
		t.Fatal(err)
	}
	key := func(params map[string]string, p catalog.Place) string {
		t.Helper()
		files, command, err := e.Render(params, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(params) == 0 && p.Port == 8080 {
			text := strings.ReplaceAll(rendered(files, command), filepath.Base(command.Build.Folder), "KEY")
			golden(t, "maven.rendered", text)
		}
		return command.Build.Result
	}
	first := key(nil, place())
	same := key(map[string]string{"java_opts": "-Xmx2g"}, place(func(p *catalog.Place) { p.Port, p.Work = 9, "/elsewhere" }))
	if first != same {
		t.Errorf("the place and the run decide on the build: %s, %s", first, same)
	}
	for name, other := range map[string]string{"an input": key(map[string]string{"boot": "4.0.7"}, place()),
		"a tool": key(nil, place(func(p *catalog.Place) {
			p.Port = 9
			p.Find = func(n catalog.Need) (catalog.Found, error) {
				return catalog.Found{Path: "/found/" + n.Name, Stamp: "2"}, nil
			}
		}))} {
		if other == first {
			t.Errorf("%s changed, and the build is the same", name)
		}
	}
	_, command, err := e.Render(nil, place(inImage))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%d files, %q, build %v", len(command.Image.Context), command.Args, command.Build)
	if want := "3 files, [], build <nil>"; got != want {
		t.Errorf("from a Dockerfile: got %s, want %s", got, want)
	}
}
