package intake

import "github.com/dpscope/dpscope/core/stream"

func newDigest() summer { return stream.NewDigest() }
