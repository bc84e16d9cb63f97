//go:build !linux

package engine

func threadID() int { return 0 }
