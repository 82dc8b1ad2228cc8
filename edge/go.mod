module github.com/dpscope/dpscope/edge

go 1.26

require (
	github.com/dpscope/dpscope v0.0.0
	github.com/syumai/workers v0.32.0
)

require (
	github.com/golang/glog v1.2.0 // indirect
	github.com/google/differential-privacy/go/v3 v3.0.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/dpscope/dpscope => ../

replace github.com/golang/glog => ../internal/glog

tool github.com/syumai/workers/cmd/workers-assets-gen
