package testserver

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxDelay bounds a delay asked for by path.
const maxDelay = 10 * time.Minute

// parseDelay parses a duration; a positive usual one stands for no argument.
func parseDelay(arg string, usual time.Duration) (time.Duration, error) {
	if arg == "" && usual > 0 {
		return usual, nil
	}
	d, err := time.ParseDuration(arg)
	if err != nil || d < 0 || d > maxDelay {
		return 0, fmt.Errorf("want a duration up to %v, such as 20ms", maxDelay)
	}
	return d, nil
}

// parseCount parses a decimal number within bounds.
func parseCount(arg string, low, high int) (int, error) {
	n, err := strconv.ParseUint(arg, 10, 31)
	if err != nil || int(n) < low || int(n) > high {
		return 0, fmt.Errorf("want a number from %d to %d", low, high)
	}
	return int(n), nil
}

// parseSize parses a number of bytes, such as 100000, 10MB (of 10^6 bytes) or
// 64KiB, up to maxSize.
func parseSize(arg string) (int, error) {
	digits := strings.TrimRight(arg, "BKMikb")
	unit, ok := 0, true
	switch arg[len(digits):] {
	case "", "B":
		unit = 1
	case "kB", "KB":
		unit = 1e3
	case "MB":
		unit = 1e6
	case "KiB":
		unit = 1 << 10
	case "MiB":
		unit = 1 << 20
	default:
		ok = false
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || !ok || n*uint64(unit) > maxSize {
		return 0, fmt.Errorf("want a size up to %d bytes, such as 100000 or 64KiB", maxSize)
	}
	return int(n) * unit, nil
}
