package doctor

import (
	"context"
	"time"
)

// dockerWithin bounds the question to the engine.
const dockerWithin = 3 * time.Second

// parts looks at what Prony itself uses.
func parts(ctx context.Context, c Config) []Check {
	var all []Check
	if c.Engine != nil {
		all = append(all, engine(c.Engine()))
	}
	if c.Groups != nil {
		all = append(all, groups(c.Groups()))
	}
	if c.Docker != nil {
		ctx, cancel := context.WithTimeout(ctx, dockerWithin)
		defer cancel()
		all = append(all, docker(c.Docker(ctx)))
	}
	return all
}

func engine(kind, reason string) Check {
	k := Check{Name: "engine", State: Good, Found: kind, Want: "io_uring"}
	if kind == "io_uring" {
		return k
	}
	k.State, k.Why = Warn, "the generator takes more CPU for each request: "+reason
	k.Remedy = "sysctl kernel.io_uring_disabled   # 0 allows it; containers need a seccomp profile that does; Linux 5.19 or newer"
	return k
}

func groups(err error) Check {
	if err == nil {
		return Check{Name: "limits", State: Good, Found: "control groups can be made"}
	}
	return Check{Name: "limits", State: Warn, Found: err.Error(), Want: "control groups that can be made",
		Why:    "services cannot be limited, nor their CPU and memory be counted apart",
		Remedy: "run as root, or in a delegated group: systemd-run --user --scope -p Delegate=yes prony run …"}
}

func docker(version string, err error) Check {
	if err == nil {
		return Check{Name: "docker", State: Good, Found: "engine " + version}
	}
	return Check{Name: "docker", State: Unknown, Found: "no engine answers (needed for docker and compose services alone): " + err.Error()}
}
