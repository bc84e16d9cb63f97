// Package drivertest is the conformance suite that each driver must pass: start,
// readiness, limits that bite, logs, stop, the death of a target, the death of
// the runner by SIGKILL and the cleaning up after it.
//
// It is for those who write a driver or make one work on another kind of host: a
// test calls [Run] with a [Suite], and TestMain calls [Main], because the target
// is the test binary itself in another role, and so is the runner that is
// killed. A failure explains the rule that was broken.
//
// It decides that a limit works when the target itself finds that it does, so
// that the suite needs to know nothing of control groups or containers. It
// refuses to pass where it could not look: without the right to set limits those
// tests are skipped with the reason, or fail if PRONY_E2E=require.
package drivertest
