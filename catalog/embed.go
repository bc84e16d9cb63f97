// Package catalog holds the catalog entries that come with the binary: targets
// and gateways as data, a folder each. README.md describes the format; the
// package that reads them is internal/catalog. It decides nothing and refuses
// to know any entry by name: whatever folder is here is embedded.
package catalog

import "embed"

// Files has the entries as its folders.
//
//go:embed */*
var Files embed.FS
