package spec

import "slices"

// loadForm is the part of the format that describes one load.
func loadForm() *form {
	return &form{kind: object, name: "load", keys: slices.Concat(whereFields(), howFields(), whatFields(), edgeFields())}
}

func whereFields() []field {
	return []field{
		{name: "target", form: of(text), doc: "The service that is loaded. Default the only one.", also: []string{"url", "service"}},
		{name: "path", form: of(text), doc: "Path and query of the only request. Default /."},
		{name: "requests", form: listOf(requestForm()), doc: "A weighted mix of requests, in place of path.", also: []string{"mix"}},
		{name: "name", form: of(text), doc: "Name of the load, for the report. Default its target."},
	}
}

func requestForm() *form {
	return &form{kind: object, name: "request", short: of(text), keys: []field{
		{name: "path", form: of(text), need: true, doc: "Path and query.", also: []string{"url", "uri"}},
		{name: "name", form: of(text), doc: "Name, for the report."},
		{name: "service", form: of(text), doc: "The service it goes to, if that is not the load's target."},
		{name: "method", form: of(text), doc: "Method. Default GET, or POST with a body."},
		{name: "protocol", form: oneOf("HTTP/1.1", "HTTP/1.0"), doc: "Protocol version. Default HTTP/1.1."},
		{name: "host", form: of(text), doc: "Host header. Default the address."},
		{name: "headers", form: of(fields), doc: "Header fields, after those of the load."},
		{name: "body", form: of(text), doc: "Body."},
		{name: "weight", form: of(fraction), doc: "Share in the mix. Default 1."},
	}}
}

func howFields() []field {
	return []field{
		{name: "connections", form: atLeast(1), doc: "Connections kept open, or with a rate the most that may be. Default 10, with a rate 1000.", also: []string{"concurrency", "users", "vus", "clients"}},
		{name: "threads", form: atLeast(1), doc: "Threads of the generator. Default what the services leave.", also: []string{"workers"}},
		{name: "rate", form: of(rate), doc: "Open model: requests a second; 500/s, a ramp 100..500/s or steps 100,200,400/s.", also: []string{"rps", "qps", "throughput"}},
		{name: "arrivals", form: oneOf("poisson", "constant"), doc: "Open model: how arrivals scatter. Default poisson."},
		{name: "capacity", form: capacityForm(), doc: "Find the highest rate that holds."},
		{name: "duration", form: above(duration), doc: "Length of the measured window. Default 10s.", also: []string{"time", "for"}},
		{name: "count", form: atLeast(1), doc: "An exact number of requests, in place of a duration.", also: []string{"iterations", "number"}},
		{name: "warmup", form: of(warming), doc: "The same load before the window: a time, or auto, until it is steady. Default auto where something is started, none for a URL and with a count.", also: []string{"warm-up", "ramp-up"}},
		{name: "think", form: of(pause), doc: "Closed model: pause of a connection between answer and next request; 100ms, '100ms exponential'.", also: []string{"sleep", "think-time"}},
		{name: "keepalive", form: of(truth), doc: "Keep connections open. Default true.", also: []string{"keep-alive"}},
		{name: "pipeline", form: atLeast(1), doc: "Requests in flight on one connection. Default 1."},
		{name: "connect-rate", form: of(perSecond), doc: "Open at most that many connections a second."},
	}
}

func capacityForm() *form {
	return &form{kind: object, name: "capacity", keys: []field{
		{name: "slo", form: oneOrMore(of(text)), need: true, doc: "What has to hold, such as 'p99 < 50ms'.", also: []string{"expect"}},
		{name: "within", form: of(percent), doc: "How close the bounds of the search come. Default 2%."},
	}}
}

func whatFields() []field {
	return []field{
		{name: "method", form: of(text), doc: "Method of every request. Default GET, or POST with a body."},
		{name: "headers", form: of(fields), doc: "Header fields of every request.", also: []string{"header"}},
		{name: "body", form: of(text), doc: "Body of every request."},
		{name: "script", form: of(text), doc: "A wrk-compatible Lua script."},
		{name: "script-args", form: listOf(of(text)), doc: "Its arguments."},
		{name: "same-length", form: of(truth), doc: "An answer whose length differs from the first one's has failed."},
		{name: "seed", form: atLeast(1), doc: "Seed of this load. Default made of the experiment's seed and the block."},
		{name: "abort-after", form: atLeast(1), doc: "End after so many failures in a row."},
	}
}

func edgeFields() []field {
	return []field{
		{name: "timeout", form: above(duration), doc: "Of a request: from its send, with a rate from its planned time. Default 10s.", also: []string{"timeouts"}},
		{name: "connect-timeout", form: above(duration), doc: "Of a connect. Default 10s."},
		{name: "tls-timeout", form: above(duration), doc: "Of a TLS handshake. Default 10s."},
		{name: "drain", form: of(duration), doc: "Longest wait for answers after the end; 0 for none. Default the timeout, at most 1s; with a rate 30s."},
		{name: "dial", form: of(text), doc: "Connect there whatever the target is: host:port or unix:/path."},
		{name: "sources", form: listOf(of(text)), doc: "Local addresses to connect from, in turn.", also: []string{"source"}},
		{name: "max-header", form: above(size), doc: "Largest response header taken. Default 256KiB."},
		{name: "max-body", form: above(size), doc: "Largest response body taken. Default any."},
		{name: "insecure", form: of(truth), doc: "Do not verify the server's certificate."},
		{name: "server-name", form: of(text), doc: "TLS server name. Default the URL's host."},
		{name: "ca", form: of(text), doc: "PEM file with CA certificates to trust instead of the system's."},
		{name: "cert", form: of(text), doc: "PEM file with the client certificate."},
		{name: "key", form: of(text), doc: "PEM file with its key."},
		{name: "tls-min", form: oneOf("1.2", "1.3"), doc: "Lowest TLS version."},
		{name: "tls-max", form: oneOf("1.2", "1.3"), doc: "Highest TLS version."},
		{name: "no-resume", form: of(truth), doc: "A full TLS handshake for every connection."},
		{name: "with", form: oneOf("prony", "wrk", "ab", "h2load", "hey", "vegeta", "bombardier", "oha", "gatling"), doc: "The program that makes the load; another than Prony's own must be installed, and runs as its users run it. Default prony.", also: []string{"generator", "tool"}},
		{name: "engine", form: oneOf("auto", "io_uring", "epoll", "goroutines"), doc: "Event loop of the generator. Default auto."},
		{name: "timestamps", form: oneOf("app", "kernel"), doc: "What ends a request: its last byte was read, or received by the kernel. Default app."},
	}
}
