// Package web writes results as one HTML file that needs nothing else: the page
// (built from the TypeScript in web/, embedded) with the result's JSON inside.
//
// What it is for: a report to attach to a post or a ticket. It opens without a
// server and without the network, in light and dark, on a phone and on paper.
// The verdict comes first, then the number with its interval and what limited
// it, then everything that they rest on.
//
// What it decides for you:
//
//  1. What is inside. A file is kept under [MostBytes]: detail is left out by a
//     fixed order until it fits, first the per-second histograms of kinds other
//     than the response, last the seconds of trials that are not the typical one
//     of their variant. The page says what was left out. Counts, verdicts,
//     findings and the response histogram of each trial stay as long as they
//     can; seconds are merged, never averaged.
//  2. What may run. The policy in the head allows the one script and the one
//     style by their hashes and no request to anywhere.
//
// What it refuses: to run anything that comes from data. Data is JSON in a
// script element of a type that no browser executes, with every <, > and & of it
// escaped, and the page renders it as text.
//
// The same result gives the same bytes: no clock, no random number.
package web
