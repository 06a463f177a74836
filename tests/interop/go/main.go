// interop client MODE REVISION URL - the checks, with the Go SDK over HTTP.
// interop server PORT              - the demo's tools, over HTTP as well.
package main

import (
	"fmt"
	"os"
)

func main() {
	arguments := os.Args[1:]
	switch {
	case len(arguments) == 4 && arguments[0] == "client":
		prove(arguments[1], arguments[2], arguments[3])
	case len(arguments) == 2 && arguments[0] == "server":
		fmt.Fprintln(os.Stderr, serve(arguments[1]))
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "usage: interop client MODE REVISION URL")
		fmt.Fprintln(os.Stderr, "       interop server PORT")
		os.Exit(2)
	}
}
