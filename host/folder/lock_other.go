//go:build !unix

package folder

import "os"

func lock(*os.File) error { return nil }
