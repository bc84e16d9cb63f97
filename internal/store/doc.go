// Package store keeps the history of runs in a database: SQLite, one file, by
// default, or PostgreSQL.
//
// What it is for: every run that came to an end, with its whole result, so that
// it renders again exactly as on its day; and what people add to it: names,
// tags, notes, baselines. It is the only package that knows SQL. There is one
// implementation; a dialect is a driver, a folder of migrations, and how a
// backup is made. The SQL text is the same on both.
//
//  1. [Open] finds the database, brings its tables to this version, and refuses
//     one that a newer version wrote.
//  2. [Store.Put] keeps a run, whole or not at all. When it has returned, the run
//     is on disk: neither kill -9 nor a power cut takes it back.
//  3. [Store.Find] turns what a person types (last, a name, the first letters of
//     an id) into a run; [Store.List] pages through the headlines; [Store.Get] reads
//     everything of a run.
//  4. [Store.History] follows one metric over the runs that can be compared, and
//     says where it changed.
//
// What it decides for you: ids are ten letters and digits that follow from what
// was measured, so that the same run is the same everywhere and putting it twice
// keeps it once; times are integers, nanoseconds since 1970; there is one writer
// at a time, and others wait for it; an SQLite file is copied aside before its
// tables change.
//
// What it refuses: to overwrite a result with another one, to take a baseline
// from fewer runs than a test can judge, to remove a run that a baseline rests on,
// and a database that belongs to something else. It never judges a run; verdicts
// come from analyse and are kept as they came.
package store
