//go:build !unix && !windows

package monitor

import "time"

// processTime, usagePeak and fileLimit are unknown here.
func processTime() (time.Duration, bool) { return 0, false }

func usagePeak() int64 { return 0 }

func fileLimit() int64 { return 0 }
