// Package unit reads and writes quantities: durations, rates, counts, sizes,
// percentages and processor shares.
//
// What it is for: the one place where "10k/s", "400MiB" and "1m30s" turn into
// numbers and back. Inside the program every quantity is in its base unit
// (nanoseconds, events per second, bytes, a ratio, whole processors); scaling
// happens only here.
//
// What it decides for you: a bare number in a duration is seconds, in a rate
// events per second, in a size bytes. k, M, G and T are powers of 1000, Ki,
// Mi, Gi and Ti of 1024. Printed numbers carry three significant digits and no
// trailing zeros, and what is not zero (or not all) is never printed as 0 %
// (or 100 %).
//
// What it refuses: negative quantities, exponents, hexadecimal, NaN and
// infinity, a bare number where a percentage is meant, and a small m where it
// could mean milli, minute or million. Every error shows what to write
// instead.
package unit
