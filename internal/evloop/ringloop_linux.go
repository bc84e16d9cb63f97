package evloop

import (
	"io"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sends up to inlineSend bytes are taken as sent when they are submitted: the
// socket buffer holds them, and only a failure is reported. Larger ones report
// their completion, since an answer may come before the request was taken.
const inlineSend = 8 << 10

// splitSends is from how many sends in a batch it pays to submit them with a
// call of their own, so that each can be given its real start.
const splitSends = 4

// ringLoop is the io_uring implementation: one multishot receive per
// connection, one send per request, one io_uring_enter per batch.
type ringLoop struct {
	h     Handler
	r     *ring
	conns []ringConn

	sends   []int32 // slots whose send is queued, in order
	gens    []uint32
	sends2  []int32 // the lists of the batch before, to take turns
	gens2   []uint32
	perSend int64 // running estimate of what one send costs, ns
	closing []int32
	failed  []failure

	spin    spinner
	gather  time.Duration
	enough  int
	minWait bool

	ts  unix.Timespec
	arg enterArg
}

type ringConn struct {
	fd    int32
	gen   uint32
	large bool // a send with a completion is under way

	open bool
	to   *Address // kept reachable while connecting
}

// user data: operation, generation, slot.
const (
	tagConnect = iota + 1
	tagSend
	tagRecv
)

func userData(tag uint64, gen uint32, slot int32) uint64 {
	return tag<<56 | uint64(gen&0xffffff)<<32 | uint64(uint32(slot))
}

func openRing(o Options, h Handler) (Loop, error) {
	if o.KernelTimestamps {
		return nil, ErrKind
	}
	size := o.ReadBuffer
	if size == 0 {
		size = ringBufferDefault
	}
	r, err := newRing(o.Slots, size)
	if err != nil {
		return nil, err
	}
	sharpTimers()
	l := &ringLoop{h: h, r: r, conns: make([]ringConn, o.Slots), sends: make([]int32, 0, sqEntries), gens: make([]uint32, 0, sqEntries),
		spin: spinner{budget: int64(o.Spin)}, gather: o.Coalesce, enough: 32, minWait: r.features&featMinTimeout != 0}
	for i := range l.conns {
		l.conns[i].fd = -1
	}
	return l, nil
}

func (l *ringLoop) Now() int64 { return Now() }

// Gather implements Gatherer through min_wait.
func (l *ringLoop) Gather(wait time.Duration, n int) { l.gather, l.enough = wait, min(n, 32) }

func (l *ringLoop) Open(slot int32, to, from *Address) error {
	fd, err := socket(to, from, false)
	if err != nil {
		return err
	}
	e, err := l.r.next()
	if err != nil {
		closeRaw(fd)
		return err
	}
	c := &l.conns[slot]
	c.fd, c.to, c.open = int32(fd), to, false
	sa := to.sockaddr()
	e.opcode, e.fd = opConnect, int32(fd)
	e.addr, e.off = uint64(uintptr(unsafe.Pointer(&sa.data))), uint64(sa.len)
	e.userData = userData(tagConnect, c.gen, slot)
	return nil
}

// Close ends a slot. The socket is shut down at once, which ends its receive,
// but the descriptor is kept until the queue was submitted: entries that name
// it must not reach a later socket with the same number.
func (l *ringLoop) Close(slot int32) {
	c := &l.conns[slot]
	if c.fd < 0 {
		return
	}
	shutdownRaw(int(c.fd))
	if l.r.pending() == 0 {
		closeRaw(int(c.fd))
	} else {
		l.closing = append(l.closing, c.fd)
	}
	*c = ringConn{fd: -1, gen: (c.gen + 1) & 0xffffff}
}

func (l *ringLoop) Send(slot int32, p []byte, at int64) {
	c := &l.conns[slot]
	e, err := l.r.next()
	if err != nil {
		l.failed = append(l.failed, failure{slot, c.gen, syscall.EIO})
		return
	}
	e.opcode, e.fd = opSend, c.fd
	e.addr, e.len = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p)))), uint32(len(p))
	e.opFlags = unix.MSG_NOSIGNAL | unix.MSG_WAITALL
	e.userData = userData(tagSend, c.gen, slot)
	if len(p) > inlineSend {
		c.large = true
		return
	}
	e.flags = sqeSkipSuccess
	l.sends = append(l.sends, slot)
	l.gens = append(l.gens, c.gen)
}

func (l *ringLoop) receive(slot int32) {
	c := &l.conns[slot]
	e, err := l.r.next()
	if err != nil {
		l.failed = append(l.failed, failure{slot, c.gen, syscall.EIO})
		return
	}
	e.opcode, e.fd, e.flags = opRecv, c.fd, sqeBufferSelect
	e.ioprio = recvMultishot | recvPollFirst
	e.userData = userData(tagRecv, c.gen, slot)

}

func (l *ringLoop) Wait(until int64) error {
	if len(l.failed) > 0 {
		l.tellFailed()
		until = 0
	}
	if err := l.submitSends(); err != nil {
		return err
	}
	if err := l.await(until); err != nil {
		return err
	}
	l.handleAll()
	return nil
}

// submitSends submits the queue and tells each sender its start. A sender may
// answer with its next send at once, so this goes on until none is left.
func (l *ringLoop) submitSends() error {
	for len(l.sends) > 0 {
		if err := l.submitBatch(); err != nil {
			return err
		}
	}
	return nil
}

// submitBatch submits what is queued. The kernel runs the sends one after the
// other, so the i-th of n starts after i/n of the call; small batches are left
// to the call that waits, with an estimate.
func (l *ringLoop) submitBatch() error {
	sends, gens := l.sends, l.gens
	l.sends, l.gens = l.sends2[:0], l.gens2[:0]
	l.sends2, l.gens2 = sends, gens
	n := len(sends)
	start := Now()
	step := l.perSend
	if n >= splitSends {
		if _, errno := l.r.submit(); errno != 0 {
			return errno
		}
		l.closeSubmitted()
		step = (Now() - start) / int64(n)
		l.learn(step)
	}
	for i, slot := range sends {
		if l.conns[slot].gen == gens[i] {
			l.h.Sent(slot, start+int64(i)*step)
		}
	}
	return nil
}

// learn keeps a low running estimate: interruptions must not enter it.
func (l *ringLoop) learn(step int64) {
	if l.perSend == 0 || step < l.perSend {
		l.perSend = step
		return
	}
	l.perSend += (min(step, 4*l.perSend) - l.perSend) / 16
}

func (l *ringLoop) closeSubmitted() {
	for _, fd := range l.closing {
		closeRaw(int(fd))
	}
	l.closing = l.closing[:0]
}

// await submits what is left and waits for completions.
func (l *ringLoop) await(until int64) error {
	if until != 0 && l.spun(until) {
		return nil
	}
	d := left(until)
	var minComplete uint32
	l.arg = enterArg{}
	if d > 0 {
		minComplete = 1
		if l.gather > 0 && l.minWait {
			minComplete = uint32(max(l.enough, 1))
			l.arg.minWaitUS = uint32(min(l.gather, d) / time.Microsecond)
		}
	}
	return l.enter(minComplete, d)
}

func (l *ringLoop) enter(minComplete uint32, d time.Duration) error {
	l.ts = unix.NsecToTimespec(int64(d))
	l.arg.ts = uint64(uintptr(unsafe.Pointer(&l.ts)))
	_, errno := l.r.enter(minComplete, enterGetEvents, &l.arg)
	if errno != 0 {
		return errno
	}
	if len(l.closing) > 0 {
		l.closeSubmitted()
	}
	return nil
}

// spun polls for a while before blocking, where that pays.
func (l *ringLoop) spun(until int64) bool {
	budget := l.spin.start()
	if budget == 0 {
		return false
	}
	end := min(Now()+budget, until)
	l.arg = enterArg{}
	for {
		if l.enter(0, 0) != nil || l.ready() {
			l.spin.done(true)
			return true
		}
		if Now() >= end {
			break
		}
	}
	l.spin.done(false)
	return false
}

func (l *ringLoop) ready() bool { return l.r.cqTail.Load() != l.r.cqHead.Load() }

func (l *ringLoop) tellFailed() {
	for i := 0; i < len(l.failed); i++ {
		f := l.failed[i]
		if l.conns[f.slot].gen == f.gen {
			l.h.Gone(f.slot, f.err)
		}
	}
	l.failed = l.failed[:0]
}

// handleAll handles the completions that are there now, and gives the buffers
// back once.
func (l *ringLoop) handleAll() {
	head, tail := l.r.cqHead.Load(), l.r.cqTail.Load()
	buffers := l.r.bufTail
	for ; head != tail; head++ {
		c := l.r.cqes[head&l.r.cqMask]
		l.r.cqHead.Store(head + 1)
		l.handle(&c)
	}
	if l.r.bufTail != buffers {
		l.r.publishBuffers()
	}
}

func (l *ringLoop) handle(c *cqe) {
	slot := int32(uint32(c.userData))
	gen := uint32(c.userData>>32) & 0xffffff
	conn := &l.conns[slot]
	current := conn.fd >= 0 && conn.gen == gen
	switch c.userData >> 56 {
	case tagRecv:
		l.received(slot, c, current)
	case tagSend:
		if current {
			l.sent(slot, c)
		}
	case tagConnect:
		if current {
			l.connected(slot, c)
		}
	}
}

func (l *ringLoop) connected(slot int32, c *cqe) {
	conn := &l.conns[slot]
	if c.res < 0 {
		l.h.Gone(slot, syscall.Errno(-c.res))
		return
	}
	conn.to, conn.open = nil, true
	l.receive(slot)
	l.h.Opened(slot)
}

func (l *ringLoop) sent(slot int32, c *cqe) {
	if c.res < 0 {
		l.h.Gone(slot, syscall.Errno(-c.res))
		return
	}
	if conn := &l.conns[slot]; conn.large {
		conn.large = false
		l.h.Sent(slot, Now())
	}
}

func (l *ringLoop) received(slot int32, c *cqe, current bool) {
	conn := &l.conns[slot]
	if c.flags&cqeBuffer != 0 {
		id := uint16(c.flags >> 16)
		if current && c.res > 0 {
			l.h.Data(slot, l.r.buffer(id)[:c.res], 0)
		}
		l.r.giveBack(id)
	}
	if !current || conn.fd < 0 || conn.gen != uint32(c.userData>>32)&0xffffff {
		return
	}
	switch {
	case c.res == 0:
		l.h.Gone(slot, io.EOF)
	case c.res < 0 && c.res != -int32(unix.ENOBUFS):
		l.h.Gone(slot, syscall.Errno(-c.res))
	case c.flags&cqeMore == 0:
		l.receive(slot)
	}
}

// Spun reports whether polling ever paid.
func (l *ringLoop) Spun() bool { return l.spin.used }

func (l *ringLoop) Release() error {
	for i := range l.conns {
		l.Close(int32(i))
	}
	_, _ = l.r.submit()
	l.closeSubmitted()
	l.r.release()
	return nil
}
