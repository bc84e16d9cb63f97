package httpwire

import (
	"encoding/binary"
	"math/bits"
)

// tokens holds '1' for each byte that may stand in a token (RFC 9110 section
// 5.6.2), 32 to a row. A constant, and a load is quicker than bit tests.
const tokens = "00000000000000000000000000000000" +
	"01011111001101101111111111000000" +
	"01111111111111111111111111100011" +
	"11111111111111111111111111101010" +
	noTokens + noTokens + noTokens + noTokens

const noTokens = "00000000000000000000000000000000"

// isToken tells whether c may stand in a field name or a method.
func isToken(c byte) bool { return tokens[c] == '1' }

func isDigit(c byte) bool { return c-'0' <= 9 }

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// hexDigit returns the value of a hexadecimal digit, or -1.
func hexDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// trimSpace cuts spaces and tabs from both ends.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// equalFold compares b with lower, which is in lower case, ignoring the case of
// ASCII letters.
func equalFold[T string | []byte](b T, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := range len(b) {
		c := b[i]
		if c-'A' <= 'Z'-'A' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// cutElement splits off the first element of a comma-separated list, without
// the white space around it.
func cutElement(list []byte) (element, rest []byte) {
	for i, c := range list {
		if c == ',' {
			return trimSpace(list[:i]), list[i+1:]
		}
	}
	return trimSpace(list), nil
}

// validValue tells whether b holds no control character but tabs.
func validValue(b []byte) bool {
	for i := nextControl(b, 0); i < len(b); i = nextControl(b, i+1) {
		if b[i] != '\t' {
			return false
		}
	}
	return true
}

// nextControl returns the index of the first byte of b from i on that is below
// 0x20 or is 0x7f, or len(b). It looks at eight bytes at a time.
func nextControl(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := controls(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != 0x7f {
		i++
	}
	return i
}

// controls returns a word whose lowest bit set is in the first byte of x that is
// below 0x20 or is 0x7f. Each subtraction borrows into the top bit of such a
// byte, and, from there on only, maybe wrongly into the ones above.
func controls(x uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	del := x ^ ones*0x7f
	return ((x-ones*0x20)&^x | (del-ones)&^del) & tops
}

// nonLetters returns a word with the top bit set in each byte of x that is
// neither an ASCII letter nor '-', what most field names consist of.
func nonLetters(x uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	low := (x | ones*0x20) &^ tops
	letter := (low + ones*(0x80-'a')) &^ (low + ones*(0x7f-'z'))
	dash := ^((x^ones*'-')&^tops + ones*0x7f)
	return ^(letter|dash)&tops | x&tops
}
