package web

import (
	"embed"
	"io/fs"
)

//go:embed dist/ui
var ui embed.FS

// Pages are index.html and the two files it loads: the pages of prony serve, made
// of the same sources as the report. Each path of theirs is answered with
// index.html; the names of the others change with their content. Links and the
// API that they ask are absolute paths, so that they have to be served at the root
// of a host.
func Pages() fs.FS {
	sub, err := fs.Sub(ui, "dist/ui")
	if err != nil {
		return ui // not reached: the path is one that was embedded
	}
	return sub
}
