// Package hdr records latencies in the HdrHistogram layout: a fixed bound on
// the error of every quantile, exact merging, and an established interchange
// format.
//
// What it is for: one histogram per worker, second, outcome and route. Values
// are int64 and carry no unit here; the rest of the program uses nanoseconds.
//
//  1. A worker calls [Histogram.Record] for every value. It does not allocate,
//     lock or fail.
//  2. A collector takes full histograms away and adds them up with
//     [Histogram.Merge]. Any longer window, any group of workers or routes is
//     a merge.
//  3. A report asks [Histogram.Value] for quantiles, and [Histogram.Max],
//     [Histogram.Mean] and [Histogram.StdDev] for what is exact.
//  4. [Histogram.AppendV2], [Histogram.AppendCompressed] and [LogWriter] store
//     it in the formats that the HdrHistogram tools read.
//
// What it decides for you: with the default three digits a quantile is never
// below the true value and at most 1/1024 (0.098 %) above it; quantiles are
// nearest rank, never interpolated; count, minimum, maximum, sum and sum of
// squares are exact integers beside the cells. A value above the range is kept
// in the top cell and counted as overflow, a negative one is counted as a
// clock error: the slowest requests are what the measurement is about, so
// nothing is dropped.
//
// What it refuses: merging histograms of different shape, averaging quantiles
// (there is no function for it), and decoding input whose size or shape has
// not been checked first.
//
// A Histogram has one writer and no lock. Handing it to another goroutine is
// the caller's business.
package hdr
