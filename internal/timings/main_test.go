package main

import (
	"os"
	"strings"
)

func Example() {
	err := run(strings.NewReader(`{"Action":"output","Package":"p","Test":"TestSlow","Output":"quiet\n"}
{"Action":"pass","Package":"p","Test":"TestSlow","Elapsed":2}
{"Action":"output","Package":"p","Test":"TestBad","Output":"--- FAIL: TestBad\n"}
{"Action":"fail","Package":"p","Test":"TestBad","Elapsed":1}
{"Action":"output","Package":"p","Output":"FAIL\tp\t3.0s\n"}
{"Action":"fail","Package":"p","Elapsed":3}
not JSON
`), os.Stdout)
	os.Stdout.WriteString(err.Error())
	// Output:
	// --- FAIL: TestBad
	// FAIL	p	3.0s
	// not JSON
	//
	// The slowest tests, in seconds; of cached ones, what they took:
	//       2.0  p TestSlow
	//       1.0  p TestBad
	// tests failed
}
