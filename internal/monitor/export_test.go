package monitor

import (
	"context"
	"io"
)

// ServeRoot is Serve for a machine made of files.
func ServeRoot(ctx context.Context, in io.Reader, out io.Writer, root string) error {
	return serve(ctx, in, out, root)
}
