//go:build !unix

package bundle

import "errors"

// ErrRunning says that a campaign is being carried out by another process.
var ErrRunning = errors.New("the campaign is being carried out now")

// Lock takes nothing here: this system has no lock that ends with its process.
func (c *Campaign) Lock() (release func(), err error) { return func() {}, nil }
