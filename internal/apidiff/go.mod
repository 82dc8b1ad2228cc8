module github.com/dpscope/dpscope/internal/apidiff

go 1.26.0

require (
	golang.org/x/exp v0.0.0-20260508232706-74f9aab9d74a
	golang.org/x/tools v0.51.0
)

require (
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
)
