package unit

import (
	"fmt"
	"math/big"
	"strings"
)

// maxNumberLen bounds the digits of a number, so that exact arithmetic on it
// stays cheap whatever the input.
const maxNumberLen = 40

// Examples that errors show.
const (
	durationHint = "write 500ms, 10s, 1m30s or 30 (seconds)"
	rateHint     = "write 5000/s, 2k/s, 300/m or 10/h"
	countHint    = "write 500000, 10k or 1.5M"
	sizeHint     = "write 512, 64k, 10MB or 400MiB"
	percentHint  = "write 0.1% or 5%"
	cpusHint     = "write 4, 0.2 or 200m"
)

// refuse is the error for text that is no quantity of the kind named.
func refuse(kind, text, reason, hint string) error {
	return fmt.Errorf("%s %.60q: %s; %s", kind, text, reason, hint)
}

// cut splits text into its leading plain decimal number and the rest, both
// without surrounding space. The reason is empty if there is a number.
func cut(text string) (number, suffix, reason string) {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && r != '.'
	})
	if end < 0 {
		end = len(text)
	}
	number, suffix = text[:end], strings.TrimSpace(text[end:])
	switch {
	case text == "":
		return "", "", "empty"
	case text[0] == '-':
		return "", "", "negative"
	case len(number) > maxNumberLen:
		return "", "", "too many digits"
	case strings.Trim(number, ".") == "" || strings.Count(number, ".") > 1:
		return "", "", "not a number"
	}
	return number, suffix, ""
}

// exact turns a number from cut into a fraction.
func exact(number string) *big.Rat {
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return new(big.Rat) // not reached: cut admits digits and one dot only
	}
	return r
}

// siFactor returns 1000^n for k, M, G and T in either case, 1 for "".
func siFactor(suffix string) (int64, bool) {
	switch strings.ToLower(suffix) {
	case "":
		return 1, true
	case "k":
		return 1e3, true
	case "m":
		return 1e6, true
	case "g":
		return 1e9, true
	case "t":
		return 1e12, true
	}
	return 0, false
}

// scaled returns number times factor.
func scaled(number string, factor int64) *big.Rat {
	return new(big.Rat).Mul(exact(number), new(big.Rat).SetInt64(factor))
}
