package monitor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Serve is the far side of [Follow]: it reads a request, answers with a
// description of the machine, and sends samples, a line of JSON each, until it
// is told to stop or in ends. Then it sends what is left. It fails when the
// request cannot be served or out cannot be written to. If in is an io.Closer,
// it is closed when ctx ends; otherwise Serve waits for its end.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := serve(ctx, in, out, ""); err != nil {
		return fmt.Errorf("serve a watch: %w", err)
	}
	return nil
}

func serve(ctx context.Context, in io.Reader, out io.Writer, root string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if closer, ok := in.(io.Closer); ok {
		stop := context.AfterFunc(ctx, func() { _ = closer.Close() })
		defer stop()
	}
	f := &farSide{epoch: time.Now(), calls: newLines(in), sink: newWireSink(out, cancel)}
	request, err := f.request()
	if err != nil {
		_ = f.sink.send(news{Schema: RecordingSchema, Error: err.Error()}) // the first error counts
		return err
	}
	request.Root = root
	c := newCollector(*request, newLocalFiles(root), f.sink, f.epoch)
	environment := environmentOf(c.src, true)
	if err := f.sink.send(news{Schema: RecordingSchema, Environment: &environment}); err != nil {
		return err
	}
	return f.serve(ctx, c)
}

// farSide is one conversation.
type farSide struct {
	epoch time.Time
	calls lines
	sink  *wireSink
}

// request reads what is wanted.
func (f *farSide) request() (*Request, error) {
	var first call
	if err := f.calls.next(&first); err != nil {
		return nil, err
	}
	switch {
	case first.Request == nil:
		return nil, errCall
	case first.Schema != RecordingSchema:
		return nil, fmt.Errorf("schema %d, this side has %d: %w", first.Schema, RecordingSchema, errSchema)
	}
	return first.Request, ready(*first.Request)
}

// serve answers calls until the last.
func (f *farSide) serve(ctx context.Context, c *collector) error {
	halt := func() {}
	started, err := false, error(nil)
	for {
		var one call
		if err = f.calls.next(&one); err != nil || one.Stop {
			break
		}
		switch {
		case one.Ping != 0:
			err = f.sink.send(news{Pong: one.Ping, AtUS: time.Since(f.epoch).Microseconds()})
		case one.Start && !started:
			started, halt = true, c.start(ctx)
		}
		if err != nil {
			break
		}
	}
	halt()
	if end := f.sink.send(news{End: true}); end != nil {
		return end
	}
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil // the near side has gone, or we were to end: nothing went wrong
	}
	return err
}
