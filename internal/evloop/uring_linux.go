package evloop

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Kernel interface of io_uring (include/uapi/linux/io_uring.h), as far as it
// is used here. Needed kernels: multishot receive 6.0, DEFER_TASKRUN 6.1,
// min_wait 6.12 (used when the feature bit is there).
const (
	setupCQSize       = 1 << 3
	setupClamp        = 1 << 4
	setupSubmitAll    = 1 << 7
	setupCoopTaskrun  = 1 << 8
	setupSingleIssuer = 1 << 12
	setupDeferTaskrun = 1 << 13
	setupNoSQArray    = 1 << 16

	featSingleMmap = 1 << 0
	featExtArg     = 1 << 8
	featCQESkip    = 1 << 11
	featMinTimeout = 1 << 15

	enterGetEvents = 1 << 0
	enterExtArg    = 1 << 3

	registerPbufRing = 22

	opConnect = 16
	opSend    = 26
	opRecv    = 27

	sqeBufferSelect   = 1 << 5
	sqeSkipSuccess    = 1 << 6
	recvPollFirst     = 1 << 0
	recvMultishot     = 1 << 1
	cqeBuffer         = 1 << 0
	cqeMore           = 1 << 1
	offSQRing         = 0
	offSQEs           = 0x10000000
	sqEntries         = 2048
	cqEntriesMost     = 65536
	ringBuffers       = 512
	ringBufferDefault = 4096
)

type sqOffsets struct {
	head, tail, mask, entries, flags, dropped, array, resv1 uint32
	userAddr                                                uint64
}

type cqOffsets struct {
	head, tail, mask, entries, overflow, cqes, flags, resv1 uint32
	userAddr                                                uint64
}

type ringParams struct {
	sqEntries, cqEntries, flags, sqThreadCPU, sqThreadIdle, features, wqFD uint32
	resv                                                                   [3]uint32
	sq                                                                     sqOffsets
	cq                                                                     cqOffsets
}

type sqe struct {
	opcode, flags uint8
	ioprio        uint16
	fd            int32
	off, addr     uint64
	len, opFlags  uint32
	userData      uint64
	bufGroup      uint16
	personality   uint16
	spliceFD      int32
	addr3, pad    uint64
}

type cqe struct {
	userData uint64
	res      int32
	flags    uint32
}

type bufEntry struct {
	addr uint64
	len  uint32
	bid  uint16
	tail uint16 // of the ring, in entry 0
}

type bufReg struct {
	addr    uint64
	entries uint32
	bgid    uint16
	flags   uint16
	resv    [3]uint64
}

type enterArg struct {
	sigmask   uint64
	sigmaskSz uint32
	minWaitUS uint32
	ts        uint64
}

// ring is one io_uring instance with a ring of receive buffers.
type ring struct {
	fd       int
	features uint32

	sqMem, sqeMem, bufMem, dataMem []byte

	sqHead, sqTail *atomic.Uint32
	sqMask         uint32
	sqes           []sqe
	tail           uint32 // ours, published by submit
	submitted      uint32

	cqHead, cqTail *atomic.Uint32
	cqMask         uint32
	cqes           []cqe

	bufs    []bufEntry
	bufTail uint16
	bufSize int

	// What a wait points the kernel to by number must be on the heap: a stack
	// may move.
	ts  unix.Timespec
	arg enterArg
}

// newRing sets up an instance for so many connections, dropping flags that an
// older kernel does not know. Without DEFER or COOP_TASKRUN it is slower than
// epoll and therefore refused.
func newRing(slots, bufSize int) (*ring, error) {
	base := uint32(setupSingleIssuer | setupSubmitAll | setupCQSize | setupClamp)
	var err error
	for _, extra := range []uint32{setupDeferTaskrun | setupNoSQArray, setupDeferTaskrun, setupCoopTaskrun} {
		var r *ring
		if r, err = setupRing(base|extra, slots); err == nil {
			if err = r.registerBuffers(bufSize); err == nil {
				return r, nil
			}
			r.release()
		}
	}
	return nil, err
}

func setupRing(flags uint32, slots int) (*ring, error) {
	p := ringParams{flags: flags, cqEntries: uint32(min(max(4*slots, 2*sqEntries), cqEntriesMost))}
	fd, _, errno := syscall.Syscall(unix.SYS_IO_URING_SETUP, sqEntries, uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, fmt.Errorf("io_uring_setup: %w", errno)
	}
	r := &ring{fd: int(fd), features: p.features}
	const need = featSingleMmap | featExtArg | featCQESkip
	if p.features&need != need {
		r.release()
		return nil, fmt.Errorf("io_uring: kernel too old (features %#x)", p.features)
	}
	if err := r.mapRings(&p); err != nil {
		r.release()
		return nil, err
	}
	return r, nil
}

func (r *ring) mapRings(p *ringParams) error {
	size := max(int(p.sq.array)+int(p.sqEntries)*4, int(p.cq.cqes)+int(p.cqEntries)*int(unsafe.Sizeof(cqe{})))
	var err error
	if r.sqMem, err = unix.Mmap(r.fd, offSQRing, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
		return fmt.Errorf("io_uring: map rings: %w", err)
	}
	sqeSize := int(p.sqEntries) * int(unsafe.Sizeof(sqe{}))
	if r.sqeMem, err = unix.Mmap(r.fd, offSQEs, sqeSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
		return fmt.Errorf("io_uring: map entries: %w", err)
	}
	r.sqHead, r.sqTail = r.counter(p.sq.head), r.counter(p.sq.tail)
	r.cqHead, r.cqTail = r.counter(p.cq.head), r.counter(p.cq.tail)
	r.sqMask, r.cqMask = p.sqEntries-1, p.cqEntries-1
	r.sqes = unsafe.Slice((*sqe)(unsafe.Pointer(&r.sqeMem[0])), p.sqEntries)
	r.cqes = unsafe.Slice((*cqe)(unsafe.Pointer(&r.sqMem[p.cq.cqes])), p.cqEntries)
	if p.flags&setupNoSQArray == 0 {
		array := unsafe.Slice((*uint32)(unsafe.Pointer(&r.sqMem[p.sq.array])), p.sqEntries)
		for i := range array {
			array[i] = uint32(i)
		}
	}
	return nil
}

func (r *ring) counter(offset uint32) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&r.sqMem[offset]))
}

// registerBuffers gives the kernel its receive buffers.
func (r *ring) registerBuffers(size int) error {
	r.bufSize = size
	var err error
	anon := unix.MAP_ANON | unix.MAP_PRIVATE
	if r.bufMem, err = unix.Mmap(-1, 0, ringBuffers*int(unsafe.Sizeof(bufEntry{})), unix.PROT_READ|unix.PROT_WRITE, anon); err != nil {
		return fmt.Errorf("io_uring: map buffer ring: %w", err)
	}
	if r.dataMem, err = unix.Mmap(-1, 0, ringBuffers*size, unix.PROT_READ|unix.PROT_WRITE, anon); err != nil {
		return fmt.Errorf("io_uring: map buffers: %w", err)
	}
	reg := bufReg{addr: uint64(uintptr(unsafe.Pointer(&r.bufMem[0]))), entries: ringBuffers}
	if _, _, errno := syscall.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(r.fd), registerPbufRing, uintptr(unsafe.Pointer(&reg)), 1, 0, 0); errno != 0 {
		return fmt.Errorf("io_uring: register buffer ring: %w", errno)
	}
	r.bufs = unsafe.Slice((*bufEntry)(unsafe.Pointer(&r.bufMem[0])), ringBuffers)
	for i := range ringBuffers {
		r.giveBack(uint16(i))
	}
	r.publishBuffers()
	return nil
}

func (r *ring) buffer(id uint16) []byte {
	return r.dataMem[int(id)*r.bufSize : (int(id)+1)*r.bufSize]
}

func (r *ring) giveBack(id uint16) {
	e := &r.bufs[r.bufTail&(ringBuffers-1)]
	e.addr = uint64(uintptr(unsafe.Pointer(&r.dataMem[int(id)*r.bufSize])))
	e.len = uint32(r.bufSize)
	e.bid = id
	r.bufTail++
}

// publishBuffers shows the kernel the buffers given back. The tail is 16 bits
// wide and shares a 32-bit word with entry 0's buffer id, so the word is
// written as a whole, with that id in its other half (little-endian machines;
// tryRing refuses others).
func (r *ring) publishBuffers() {
	word := (*atomic.Uint32)(unsafe.Pointer(&r.bufs[0].bid))
	word.Store(uint32(r.bufs[0].bid) | uint32(r.bufTail)<<16)
}

// next returns an empty submission entry; the queue is submitted when full.
func (r *ring) next() (*sqe, error) {
	if r.full() {
		if _, errno := r.submit(); errno != 0 {
			return nil, errno
		}
		if r.full() {
			return nil, syscall.EBUSY // the kernel took nothing for now
		}
	}
	e := &r.sqes[r.tail&r.sqMask]
	*e = sqe{}
	r.tail++
	return e, nil
}

func (r *ring) full() bool { return r.tail-r.sqHead.Load() > r.sqMask }

func (r *ring) pending() uint32 { return r.tail - r.submitted }

// submit hands the entries over without waiting.
func (r *ring) submit() (uint32, syscall.Errno) { return r.enter(0, 0, nil) }

// wait submits all entries and waits for completions, for at most d and, once
// there is one, at most minWaitUS. With minComplete 0 it only collects.
func (r *ring) wait(minComplete, minWaitUS uint32, d time.Duration) syscall.Errno {
	r.ts = unix.NsecToTimespec(int64(d))
	r.arg = enterArg{minWaitUS: minWaitUS, ts: uint64(uintptr(unsafe.Pointer(&r.ts)))}
	_, errno := r.enter(minComplete, enterGetEvents, &r.arg)
	return errno
}

// enter submits all entries and, with GETEVENTS, waits. An interrupted or
// timed-out wait is no error.
func (r *ring) enter(minComplete, flags uint32, arg *enterArg) (uint32, syscall.Errno) {
	n := r.pending()
	r.sqTail.Store(r.tail)
	var size uintptr
	if arg != nil {
		flags |= enterExtArg
		size = unsafe.Sizeof(*arg)
	}
	done, _, errno := syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), uintptr(n), uintptr(minComplete), uintptr(flags), uintptr(unsafe.Pointer(arg)), size)
	if errno == 0 {
		r.submitted += uint32(done)
		return uint32(done), 0
	}
	// What was submitted before a wait failed is only visible in the ring.
	r.submitted = r.sqHead.Load()
	if errno == syscall.EINTR || errno == syscall.ETIME || errno == syscall.EBUSY || errno == syscall.EAGAIN {
		errno = 0
	}
	return 0, errno
}

func (r *ring) release() {
	for _, m := range [][]byte{r.sqMem, r.sqeMem} {
		if m != nil {
			_ = unix.Munmap(m)
		}
	}
	_ = unix.Close(r.fd) // cancels what is under way, before its buffers go
	for _, m := range [][]byte{r.bufMem, r.dataMem} {
		if m != nil {
			_ = unix.Munmap(m)
		}
	}
}

// tryRing proves on a socket pair that a multishot receive into the buffer
// ring works here: seccomp and sysctls may forbid it at any step.
func tryRing() error {
	if b := [2]byte{1, 0}; *(*uint16)(unsafe.Pointer(&b)) != 1 {
		return fmt.Errorf("%w: io_uring loop on a big-endian machine", ErrKind)
	}
	errs := make(chan error, 1)
	go func() { errs <- tryMultishot() }()
	select {
	case err := <-errs:
		return err
	case <-time.After(2 * time.Second):
		return fmt.Errorf("%w: io_uring does not answer", ErrKind)
	}
}

func tryMultishot() error {
	runtime.LockOSThread() // a ring with a single issuer refuses other threads
	defer runtime.UnlockOSThread()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	r, err := newRing(1, ringBufferDefault)
	if err != nil {
		return err
	}
	defer r.release()
	e, err := r.next()
	if err != nil {
		return err
	}
	e.opcode, e.fd, e.ioprio, e.flags = opRecv, int32(pair[0]), recvMultishot|recvPollFirst, sqeBufferSelect
	if _, err := unix.Write(pair[1], []byte("x")); err != nil {
		return err
	}
	if errno := r.wait(1, 0, time.Second); errno != 0 {
		return errno
	}
	if r.cqTail.Load() == r.cqHead.Load() {
		return fmt.Errorf("%w: no completion from a multishot receive", ErrKind)
	}
	c := r.cqes[r.cqHead.Load()&r.cqMask]
	if c.res != 1 || c.flags&(cqeBuffer|cqeMore) != cqeBuffer|cqeMore {
		return fmt.Errorf("%w: multishot receive gave result %d, flags %#x", ErrKind, c.res, c.flags)
	}
	return nil
}
