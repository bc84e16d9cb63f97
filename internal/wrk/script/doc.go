// Package script runs the Lua scripts people have written for wrk.
//
// What it is for: a script that builds requests, reads answers and prints its
// own report works unchanged. [Load] runs it once in a main state (setup,
// done) and once for each thread (init, delay, request, response), in wrk's
// order: load, setup and init of the first thread, then of the second, and so
// on. [Program.Thread] is what the engine calls; [Program.Done] comes last.
//
// What it decides for you: the dialect is Lua 5.1, with the bit library of
// LuaJIT. Numbers print as LuaJIT prints them (%.14g) from tostring, print,
// io.write and string.format; the .. operator shows up to 17 digits. Header
// fields go out in the order in which they were set, Host first. Each thread
// has its own random numbers, reproducible and different from its
// neighbour's, where LuaJIT gives every thread the same. delay may return
// fractions of a millisecond. thread.addr counts as it stands after init.
// Tables handed to a thread are copied whole, strings with NUL bytes
// included.
//
// What it refuses: a script that is missing, does not parse or fails while it
// loads ends the run, as does a request that is not a complete request, or one
// that holds another number of requests than the first did; wrk runs on with a
// default GET in the first case and waits for ever in the last. With
// Config.Quirks it runs on as wrk does. Tables that contain themselves or nest
// deeper than 32 are not copied to a thread, which crashed wrk. The ffi
// library is not available.
package script
