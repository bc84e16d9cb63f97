// A hello world on iris, as benchmarks of frameworks have it.
package main

import (
	"flag"
	"log"

	"github.com/kataras/iris/v12"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen on")
	flag.Parse()
	app := iris.New()
	hello := func(ctx iris.Context) { ctx.WriteString("Hello World!") }
	app.Get("/", hello)
	app.Get("/hello", hello)
	log.Fatal(app.Listen(*addr, iris.WithoutStartupLog))
}
