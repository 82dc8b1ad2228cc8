package recorded

import "github.com/dpscope/dpscope/stream"

func newDigest() summer { return stream.NewDigest() }
