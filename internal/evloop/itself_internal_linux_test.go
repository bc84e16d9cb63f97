package evloop

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// A connect to one's own bound port is the case that chance brings about when
// a server on an ephemeral port is gone.
func TestConnectionWithItself(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Connect(fd, name); err != nil {
		t.Skipf("no connection with itself here: %v", err)
	}
	if !metItself(fd) {
		t.Error("a socket connected to itself is not recognised")
	}
	port := uint16(name.(*unix.SockaddrInet4).Port)
	for addr, want := range map[netip.AddrPort]bool{
		netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port): port >= lowestPort(),
		netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), 80):   false,
		netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), port):  false,
	} {
		if got := (&Address{TCP: addr}).mayMeetItself(); got != want {
			t.Errorf("%v may meet itself: %t, want %t", addr, got, want)
		}
	}
}
