// Package e2e holds tests of the whole binary against real parts: nginx as the
// target, wrk and ab as the originals of the front ends, tmux as a terminal.
//
// They decide whether what Prony says about a load is what the target saw, to
// the request, and whether the front ends read like their models. They know
// nothing of Prony's packages: they read what its users read, the reports and
// the JSON.
//
// On a machine without one of the parts its tests are skipped and say so. With
// PRONY_E2E=require in the environment they fail instead.
package e2e
