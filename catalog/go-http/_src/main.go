// A hello world on net/http, as benchmarks of frameworks have it.
package main

import (
	"flag"
	"io"
	"log"
	"net/http"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen on")
	flag.Parse()
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "Hello World!")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
