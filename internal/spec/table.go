package spec

import "time"

// This file is the format: every key of an experiment file with its kind and
// what it is for. Decoding, the schema and the messages all follow it.

// fileForm is the whole file.
func fileForm() *form {
	return &form{kind: object, name: "experiment", keys: []field{
		{name: "prony", form: atLeast(1), need: true, doc: "Version of the file format; this is 1.", also: []string{"version", "apiVersion"}},
		{name: "name", form: of(text), doc: "Name of the experiment."},
		{name: "question", form: of(text), doc: "The question it answers, for the report.", also: []string{"description"}},
		{name: "services", form: tableOf(serviceForm()), need: true, late: true, doc: "What is started and loaded, by name."},
		{name: "hosts", form: tableOf(of(machine)), doc: "Other machines by name, each an ssh:// URL."},
		{name: "load", form: oneOrMore(loadForm()), need: true, late: true, doc: "The load, or a list of loads that run side by side.", also: []string{"loads"}},
		{name: "vary", form: varyForm(), doc: "Axes: a word is the variable ${word}, a dotted name is a field of the file; every combination is a variant.", also: []string{"matrix", "axes"}},
		{name: "repeat", form: repeatForm(), doc: "How often each variant is measured, from fresh starts: a number, or until a difference can be told. Default 10 with several variants, else 1.", also: []string{"repeats", "runs"}},
		{name: "order", form: oneOf("shuffled", "as-written"), doc: "Order of the variants within each block. Default shuffled, by the seed."},
		{name: "baseline", form: tableOf(of(text)), doc: "The values of the variant that the others are compared with. Default the first."},
		{name: "expect", form: listOf(of(text)), doc: "Goals such as 'p99 < 50ms' or 'scaling(instances) > 0.7'.", also: []string{"expects", "thresholds", "goals"}},
		{name: "on-failure", form: oneOf("stop", "continue"), doc: "What a failed trial means for the others. Default stop."},
		{name: "cooldown", form: of(duration), doc: "Rest between two trials. Default 2s."},
		{name: "seed", form: atLeast(1), doc: "Seed of the order, of arrivals and of choices. Default 1."},
		{name: "scale", form: of(factor), doc: "Factor on the connections, rates and counts of every load, to try a big experiment on a small machine; or auto, which reduces connections and limits to what the machines carry, and says so. Default 1."},
	}}
}

func varyForm() *form {
	return &form{kind: table, name: "vary", each: listOf(of(text))}
}

func repeatForm() *form {
	return &form{kind: object, name: "repeat", short: atLeast(1), keys: []field{
		{name: "until", need: true, doc: "Stop when enough is known.", form: &form{kind: object, name: "until", keys: []field{
			{name: "detect", form: of(percent), need: true, doc: "The difference between variants that the repeats shall be able to show."},
			{name: "most", form: atLeast(6), doc: "Most repeats, however noisy. Default 30."},
		}}},
	}}
}

// kinds are the ways in which a service comes to be.
func kinds() []string {
	return []string{"catalog", "process", "docker", "compose", "kubernetes", "url"}
}

func serviceForm() *form {
	return &form{kind: object, name: "service", choice: kinds(), keys: []field{
		{name: "catalog", form: of(text), doc: "A ready-made target or gateway: its name, or the path of a folder."},
		{name: "process", form: processForm(), doc: "A program."},
		{name: "docker", form: dockerForm(), doc: "A container of an image."},
		{name: "compose", form: composeForm(), doc: "A service of a Compose file."},
		{name: "kubernetes", form: kubernetesForm(), doc: "A workload in a cluster.", also: []string{"kube", "k8s"}},
		{name: "url", form: of(address), doc: "Something that runs already; it is neither started nor limited.", also: []string{"address", "endpoint"}},
		{name: "instances", form: atLeast(1), doc: "How many of it are started. Default 1.", also: []string{"replicas", "scale", "count"}},
		{name: "upstream", form: oneOrMore(of(text)), doc: "The services it passes requests on to; they start first.", also: []string{"depends_on", "backend", "backends", "upstreams"}},
		{name: "limits", form: limitsForm(), doc: "What each instance may use.", also: []string{"resources"}},
		{name: "ready", form: readyForm(), doc: "When an instance counts as started. Default: it takes a TCP connection within 60s.", also: []string{"healthcheck", "readiness"}},
		{name: "env", form: tableOf(of(text)), doc: "Environment, on top of what the kind sets.", also: []string{"environment"}},
		{name: "params", form: tableOf(of(text)), doc: "Parameters of a catalog entry.", also: []string{"parameters"}},
		{name: "metrics", form: oneOrMore(of(text)), doc: "Paths or URLs of metrics in the text format of Prometheus, read once a second.", also: []string{"prometheus", "scrape"}},
		{name: "thread_dumps", form: &form{kind: duration, least: int64(time.Second)}, also: []string{"thread_states", "threads"},
			doc: "How often the states of a Java service's threads are read, such as 5s. Each time stops it for some milliseconds. Default never."},
		{name: "port", form: atLeast(1), doc: "The port it listens on; by default a free one is chosen. Known to it as ${port}.", also: []string{"ports"}},
		{name: "on", form: of(text), doc: "The host it runs on, from the list of hosts. Default here.", also: []string{"host"}},
	}}
}

func processForm() *form {
	return &form{kind: object, name: "process", keys: []field{
		{name: "command", form: lineOrList(), need: true, doc: "The program and its arguments, without a shell.", also: []string{"run", "cmd", "exec"}},
		{name: "build", form: lineOrList(), doc: "A command that makes it, run once before the first trial."},
		{name: "env", form: tableOf(of(text)), doc: "Environment of the program, on top of the host's.", also: []string{"environment"}},
		{name: "dir", form: of(text), doc: "Folder to build and run in. Default that of the experiment file.", also: []string{"cwd", "workdir", "working_dir"}},
	}}
}

func dockerForm() *form {
	return &form{kind: object, name: "docker", keys: []field{
		{name: "image", form: of(text), need: true, doc: "The image, best with its digest."},
		{name: "command", form: lineOrList(), doc: "Replaces the command of the image."},
		{name: "port", form: atLeast(1), doc: "The port it listens on inside the container. Default the only one the image exposes."},
		{name: "network", form: oneOf("bridge", "host"), doc: "Network of the container. Default bridge."},
		{name: "volumes", form: listOf(of(text)), doc: "Files to mount, host:container[:ro].", also: []string{"mounts"}},
		{name: "user", form: of(text), doc: "User to run as."},
	}}
}

func composeForm() *form {
	return &form{kind: object, name: "compose", keys: []field{
		{name: "file", form: of(text), need: true, doc: "The Compose file."},
		{name: "service", form: of(text), need: true, doc: "The service in it; those it depends on come along."},
		{name: "port", form: atLeast(1), doc: "The port it listens on inside the container. Default the only one it publishes."},
	}}
}

func kubernetesForm() *form {
	return &form{kind: object, name: "kubernetes", keys: []field{
		{name: "manifest", form: of(text), doc: "File with the objects to apply."},
		{name: "image", form: of(text), doc: "Image to run, without a manifest."},
		{name: "namespace", form: of(text), doc: "Namespace. Default a new one for each run."},
		{name: "context", form: of(text), doc: "Context of the kubeconfig. Default the current one."},
		{name: "service", form: of(text), doc: "Name of the Service that takes the requests."},
		{name: "port", form: atLeast(1), doc: "Its port."},
	}}
}

func limitsForm() *form {
	return &form{kind: object, name: "limits", keys: []field{
		{name: "cpus", form: of(cpus), doc: "CPU time: cores, 0.2, or thousandths, 200m."},
		{name: "cpuset", form: of(cores), doc: "The cores it may use, such as 0-3,6.", also: []string{"cores", "cpuset-cpus"}},
		{name: "memory", form: above(size), doc: "Memory, 400MiB or 400Mi.", also: []string{"mem", "mem_limit", "ram"}},
		{name: "pids", form: atLeast(1), doc: "Processes and threads.", also: []string{"threads", "pids_limit"}},
		{name: "startup_cpus", form: of(cpus), doc: "CPU time, as cpus, until the warm-up has ended, if that is more; cpus holds from then on.", also: []string{"boost", "startup-cpus", "startup_cpu_boost"}},
	}}
}

func readyForm() *form {
	return &form{kind: object, name: "ready", keys: []field{
		{name: "path", form: of(text), doc: "Path that has to answer."},
		{name: "status", form: atLeast(100), doc: "Status it has to answer with. Default 200."},
		{name: "within", form: above(duration), doc: "Longest wait. Default 60s.", also: []string{"timeout"}},
		{name: "tcp", form: of(truth), doc: "Taking a connection is enough."},
		{name: "log", form: of(text), doc: "A regular expression that its output has to match."},
	}}
}
