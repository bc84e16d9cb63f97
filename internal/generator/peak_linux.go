package generator

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"
)

// peakEvery is how often the memory of a program is looked at.
const peakEvery = 200 * time.Millisecond

// watchPeak follows the most memory that a process had; the function it returns
// stops and gives it in bytes, 0 when nothing was seen. The figure of wait4
// would not do: a new process begins with the size of the one that started it.
func watchPeak(pid int) (stop func() int64) {
	var wg sync.WaitGroup
	var most int64
	end := make(chan struct{})
	wg.Go(func() {
		tick := time.NewTicker(peakEvery)
		defer tick.Stop()
		for wait := time.After(peakEvery / 10); ; { // once soon, for short programs
			select {
			case <-end:
				return
			case <-wait:
			case <-tick.C:
			}
			most = max(most, highWater(pid))
		}
	})
	return func() int64 {
		close(end)
		wg.Wait()
		return most
	}
}

// highWater reads VmHWM of proc_pid_status(5), which is in KiB.
func highWater(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	_, rest, ok := bytes.Cut(text, []byte("\nVmHWM:"))
	if !ok {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte(" kB"))
	n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}
