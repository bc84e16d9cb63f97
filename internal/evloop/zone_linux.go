package evloop

import (
	"net"
	"strconv"
)

// zone turns an IPv6 zone (an interface name or number) into an index.
func zone(name string) uint32 {
	if name == "" {
		return 0
	}
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(n)
	}
	if i, err := net.InterfaceByName(name); err == nil {
		return uint32(i.Index)
	}
	return 0
}
