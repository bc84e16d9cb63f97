package schedule

// Inner arithmetic that has a slow reference in the tests.
var (
	MinusLog    = minusLog
	DivideNanos = divideNanos
	RoundHalfUp = roundHalfUp
	ReplayUpTo  = readReplay
)
