package process

import (
	"prony/internal/driver"
)

// Marked lets tests in.
func Marked(environ string) driver.RunID { return marked(environ) }

// Whereabouts lets tests in.
func Whereabouts(text, dir string) map[int]driver.RunID { return parseWhereabouts(text, dir) }
