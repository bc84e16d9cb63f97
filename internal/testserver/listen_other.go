//go:build !unix

package testserver

import (
	"errors"
	"net"
)

func listenBacklog(network, address string, backlog int) (net.Listener, error) {
	return nil, errors.New("a backlog can only be chosen on unix systems")
}
