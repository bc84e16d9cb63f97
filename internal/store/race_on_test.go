//go:build race

package store_test

// raceDetector says that this binary has it: SQLite in Go is many times slower
// then, and times say nothing.
const raceDetector = true
