package main

import (
	"context"

	"prony/internal/generator"
	"prony/internal/lab"
	"prony/internal/plan"
	"prony/internal/result"
)

// with has another program make the load.
func with(ctx context.Context, p plan.Load, tell lab.Tell) (*result.Load, error) {
	o := generator.Options{Window: tell.Window, Warn: tell.Warn}
	if tell.Cost != nil {
		o.Cost = func(c generator.Cost) { tell.Cost(c.CPU, c.MaxRSS) }
	}
	return generator.Run(ctx, p, o)
}
