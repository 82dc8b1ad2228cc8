//go:build !unix

package host

import "os"

func lock(*os.File) error { return nil }
