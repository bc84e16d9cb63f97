package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// Images that were made from scratch.
const (
	repository = "prony-program"
	digestSize = 32                  // of a digest in a name
	keptFor    = 30 * 24 * time.Hour // without being used
)

// imported is the image of a tree, made unless it is there.
func (e *engine) imported(ctx context.Context, t *tree) (string, error) {
	digest, err := t.digest()
	if err != nil {
		return "", err
	}
	name := repository + ":" + digest[:digestSize]
	_, err = e.api.ImageInspect(ctx, name)
	if err == nil {
		// The engine notes the time, by which Prune knows that it is in use.
		_, err = e.api.ImageTag(ctx, client.ImageTagOptions{Source: name, Target: name})
		return name, err
	}
	if !errdefs.IsNotFound(err) {
		return "", err
	}
	_, _ = e.prune(ctx, keptFor) // what cannot go stays; the next image tries again
	return name, e.send(ctx, t, name)
}

// send hands the tree to the engine as the only layer of an image.
func (e *engine) send(ctx context.Context, t *tree, name string) error {
	reader, writer := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := t.pack(writer)
		_ = writer.CloseWithError(err)
		packed <- err
	}()
	answer, err := e.api.ImageImport(ctx, client.ImageImportSource{Source: reader, SourceName: "-"}, name,
		client.ImageImportOptions{Changes: []string{"LABEL " + labelProgram + "=1"}})
	if err == nil {
		err = errors.Join(progress(answer), answer.Close())
	}
	_ = reader.Close() // ends the packing, if the engine did not take all
	if cause := <-packed; cause != nil && !errors.Is(cause, io.ErrClosedPipe) {
		err = errors.Join(cause, err)
	}
	return err
}

// progress reads what the engine says while it works: a stream of objects, of
// which one may be an error although the status was good.
func progress(from io.Reader) error {
	d := json.NewDecoder(from)
	for {
		var said struct {
			Error string `json:"error"`
		}
		err := d.Decode(&said)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read the engine's progress: %w", err)
		case said.Error != "":
			return errors.New(said.Error)
		}
	}
}

// Prune removes the images made from scratch that were not used for a time; 0
// removes all that no container uses. It returns their names.
func (d *Driver) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	e, err := d.connect(ctx)
	if Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d.making.Lock()
	defer d.making.Unlock()
	clear(d.images)
	return e.prune(ctx, unused)
}

func (e *engine) prune(ctx context.Context, unused time.Duration) ([]string, error) {
	listed, err := e.api.ImageList(ctx, client.ImageListOptions{Filters: make(client.Filters).Add("label", labelProgram)})
	if err != nil {
		return nil, fmt.Errorf("list the images made from scratch: %w", err)
	}
	var removed []string
	var errs []error
	for _, i := range listed.Items {
		for _, name := range i.RepoTags {
			found, err := e.api.ImageInspect(ctx, name)
			if err != nil || time.Since(found.Metadata.LastTagTime) < unused {
				continue
			}
			_, err = e.api.ImageRemove(ctx, name, client.ImageRemoveOptions{PruneChildren: true})
			switch {
			case err == nil:
				removed = append(removed, name)
			case !errdefs.IsConflict(err) && !errdefs.IsNotFound(err): // in use, or gone meanwhile
				errs = append(errs, fmt.Errorf("remove image %s: %w", name, err))
			}
		}
	}
	return removed, errors.Join(errs...)
}
