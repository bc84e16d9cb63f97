// Package serve is the history of runs over HTTP: a JSON API, the pages that use
// it, reports, and the events of an experiment that goes on.
//
// What it is for: a small web UI on the own machine. Runs can be listed, marked,
// compared and removed, bundles and printed results of other tools handed in,
// experiments drafted, and, where that is allowed, started and watched. The API
// is described by openapi.json and docs/api.md, and the pages have no other way.
//
// What it decides for you:
//
//  1. Who may ask. Only requests that name this machine as their host are
//     answered, so that a foreign name that resolves here (DNS rebinding) reaches
//     nothing. With a token, every request has to bring it, as Bearer or as the
//     password of Basic.
//  2. What a page elsewhere may cause: nothing. A request that changes something
//     has to come from our own pages or from no page at all, and has to carry a
//     header that a foreign page cannot send without asking first.
//  3. What may be sent. Bodies are bounded by their kind, bundles are looked
//     through before they are unpacked, and one is taken at a time.
//  4. How events travel. They are kept in a bounded list that readers follow at
//     their own pace; nobody waits for a reader, and one that takes nothing is
//     let go.
//
// What it refuses: to run a second experiment beside one, to run any where the
// caller gave no way to, and to put data into a page: data is JSON, and reports
// are the self-contained files of web, in a sandbox of their own.
//
// It knows neither the experiment file nor how anything is run: cmd gives it a
// function for each.
package serve
