package recorded

import "github.com/dpscope/dpscope/audit/stream"

func newDigest() summer { return stream.NewDigest() }
