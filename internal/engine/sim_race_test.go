//go:build race

package engine

// raceEnabled tells whether the race detector is on, which makes everything
// ten times slower and allocates.
const raceEnabled = true
