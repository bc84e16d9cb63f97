//go:build !linux

package evloop

import "time"

// WakeCost is not known here: only the Linux loops can poll.
func WakeCost() time.Duration { return 0 }
