package evloop

import (
	"io"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sends up to inlineSend bytes are taken as sent when they were submitted: the
// socket buffer holds them, and only a failure is reported, no room included.
// Larger ones report their completion, since an answer may come before the
// request was taken.
const inlineSend = heldSend

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
	closing []closing
	failed  []failure

	spin    spinner
	gather  time.Duration
	enough  int
	minWait bool
}

type ringConn struct {
	fd    int32
	gen   uint32
	large bool   // Sent is told when the send completes, not when it is submitted
	out   []byte // of the last send; the kernel's pointer does not keep it alive
	to    *raw   // while connecting, for the same reason
	// itself: it may have been connected to itself.
	itself bool
}

// closing is a descriptor whose entries are not submitted yet.
type closing struct {
	fd int32
	to *raw
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
	sa := to.sockaddr()
	c.fd, c.to, c.itself = int32(fd), sa, to.mayMeetItself()
	e.opcode, e.fd = opConnect, int32(fd)
	e.addr, e.off = uint64(uintptr(unsafe.Pointer(&sa.data))), uint64(sa.len)
	e.userData = userData(tagConnect, c.gen, slot)
	return nil
}

// Close ends a slot. The socket is shut down at once, which ends its receive or
// connect, but the descriptor is kept until the queue was submitted: entries that name
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
		l.closing = append(l.closing, closing{c.fd, c.to})
	}
	*c = ringConn{fd: -1, gen: (c.gen + 1) & 0xffffff}
}

func (l *ringLoop) Send(slot int32, p []byte, at int64) {
	c := &l.conns[slot]
	c.out, c.large = p, len(p) > inlineSend
	if l.queueSend(slot, c) && !c.large {
		l.sends = append(l.sends, slot)
		l.gens = append(l.gens, c.gen)
	}
}

// queueSend queues a send of c.out. A small one fails rather than wait for
// room in the socket buffer: then it goes on as a large one.
func (l *ringLoop) queueSend(slot int32, c *ringConn) bool {
	e, err := l.r.next()
	if err != nil {
		l.failed = append(l.failed, failure{slot, c.gen, syscall.EIO})
		return false
	}
	e.opcode, e.fd = opSend, c.fd
	e.addr, e.len = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(c.out)))), uint32(len(c.out))
	e.opFlags = unix.MSG_NOSIGNAL | unix.MSG_WAITALL
	if !c.large {
		e.opFlags |= unix.MSG_DONTWAIT
		e.flags = sqeSkipSuccess
	}
	e.userData = userData(tagSend, c.gen, slot)
	return true
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

// submitSends submits the queue with a call of its own, since a sender that
// has heard Sent may change the bytes, and tells each sender its start. A sender
// may answer with its next send at once, so this goes on until none is left.
func (l *ringLoop) submitSends() error {
	for len(l.sends) > 0 {
		start := Now()
		if _, errno := l.r.submit(); errno != 0 {
			return errno
		}
		if l.r.pending() > 0 {
			return nil // the kernel is short of memory: with the next Wait
		}
		l.closeSubmitted()
		l.markStuck()
		l.tellSent(start, Now())
	}
	return nil
}

// tellSent tells the starts of a batch. The kernel ran the sends one after the
// other, so the i-th of n started after i/n of the call.
func (l *ringLoop) tellSent(start, end int64) {
	sends, gens := l.sends, l.gens
	l.sends, l.gens = l.sends2[:0], l.gens2[:0]
	l.sends2, l.gens2 = sends, gens
	step := (end - start) / int64(len(sends))
	for i, slot := range sends {
		if c := &l.conns[slot]; c.gen == gens[i] && !c.large {
			l.h.Sent(slot, start+int64(i)*step)
		}
	}
}

// markStuck finds the small sends that failed within the call that submitted
// them. Most had no room: those are not sent yet.
func (l *ringLoop) markStuck() {
	head, tail := l.r.cqHead.Load(), l.r.cqTail.Load()
	for ; head != tail; head++ {
		d := l.r.cqes[head&l.r.cqMask].userData
		if c := &l.conns[int32(uint32(d))]; d>>56 == tagSend && c.gen == uint32(d>>32)&0xffffff {
			c.large = true
		}
	}
}

// closeSubmitted closes the descriptors that no queued entry names any more.
func (l *ringLoop) closeSubmitted() {
	if l.r.pending() > 0 {
		return
	}
	for i := range l.closing {
		closeRaw(int(l.closing[i].fd))
	}
	clear(l.closing)
	l.closing = l.closing[:0]
}

// await submits what is left and waits for completions.
func (l *ringLoop) await(until int64) error {
	if until != 0 && l.spun(until) {
		return nil
	}
	d := left(until)
	var minComplete, minWaitUS uint32
	if d > 0 {
		minComplete = 1
		// Below a microsecond it would be a wait for all of them.
		if us := uint32(min(l.gather, d) / time.Microsecond); us > 0 && l.minWait {
			minComplete, minWaitUS = uint32(max(l.enough, 1)), us
		}
	}
	return l.enter(minComplete, minWaitUS, d)
}

func (l *ringLoop) enter(minComplete, minWaitUS uint32, d time.Duration) error {
	if errno := l.r.wait(minComplete, minWaitUS, d); errno != 0 {
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
	for {
		if l.enter(0, 0, 0) != nil || l.ready() {
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
	conn.to = nil
	if c.res < 0 {
		l.h.Gone(slot, syscall.Errno(-c.res))
		return
	}
	if conn.itself && metItself(int(conn.fd)) {
		l.h.Gone(slot, syscall.ECONNREFUSED) // nobody else is there
		return
	}
	l.receive(slot)
	l.h.Opened(slot)
}

// sent handles the end of a large send, or of one that stopped half-way. A
// failure is told with the next Wait, after what the peer said before it: a
// server may refuse a request with an answer and close without reading it all.
func (l *ringLoop) sent(slot int32, c *cqe) {
	conn := &l.conns[slot]
	n := int(c.res)
	if c.res == -int32(unix.EAGAIN) {
		n = 0
	}
	switch {
	case n < 0:
		l.failed = append(l.failed, failure{slot, conn.gen, syscall.Errno(-c.res)})
	case n < len(conn.out):
		conn.out, conn.large = conn.out[n:], true
		l.queueSend(slot, conn)
	case conn.large:
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
		l.ended(slot, io.EOF)
	case c.res < 0 && c.res != -int32(unix.ENOBUFS):
		l.ended(slot, syscall.Errno(-c.res))
	case c.flags&cqeMore == 0:
		l.receive(slot)
	}
}

// ended tells the end of a receive. If a send failed just before, that took the
// socket's error with it, and the receive only found the stream's end.
func (l *ringLoop) ended(slot int32, err error) {
	for _, f := range l.failed {
		if f.slot == slot && f.gen == l.conns[slot].gen {
			err = f.err
		}
	}
	l.h.Gone(slot, err)
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
