package testserver

import (
	"net"
)

// listen opens the listener; with a backlog of zero the system chooses it.
func listen(network, address string, backlog int) (net.Listener, error) {
	if backlog > 0 {
		return listenBacklog(network, address, backlog)
	}
	return net.Listen(network, address)
}
