package main

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// writeIDX writes a folder of IDX files with images of 4 x 4 pixels, some of them in gzip:
// pixel p of image i is 16 i + p, modulo 256, and its label i modulo 10.
func writeIDX(t *testing.T, rows, tests int) string {
	dir := t.TempDir()
	for prefix, n := range map[string]int{"train": rows, "t10k": tests} {
		images, labels := []byte{0, 0, 8, 3, 0, 0, byte(n >> 8), byte(n), 0, 0, 0, 4, 0, 0, 0, 4}, []byte{0, 0, 8, 1, 0, 0, byte(n >> 8), byte(n)}
		for i := range n {
			for p := range 16 {
				images = append(images, byte(16*i+p))
			}
			labels = append(labels, byte(i%10))
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write(images)
		w.Close()
		for name, data := range map[string][]byte{prefix + "-images-idx3-ubyte.gz": packed.Bytes(), prefix + "-labels-idx1-ubyte": labels} {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
		}
	}
	return dir
}

// TestIDX: pixels are read in their places and averaged by squares; what is no such file,
// or too short, is refused by name.
func TestIDX(t *testing.T) {
	dir := writeIDX(t, 300, 3)
	e := must.Get(idxExamples(dir, 300, 2, 2))(t)
	// Image 2, upper right square: pixels 2, 3, 6 and 7 of 32 on.
	if got, want := e.train.X[2*4+1], (34.+35+38+39)/4/255; math.Abs(got-want) > 1e-15 || e.train.Len() != 300 || e.test.Len() != 2 || e.train.Labels[13] != 3 {
		t.Errorf("%v, want %v; %d and %d examples", got, want, e.train.Len(), e.test.Len())
	}
	for name, content := range map[string]string{
		"train-labels-idx1-ubyte":    "\x00\x00\x08\x03",
		"t10k-labels-idx1-ubyte":     "\x00\x00\x08\x01\x00\x00\x00\x02\x01",
		"t10k-images-idx3-ubyte":     "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x04\xff\xff\xff\xff",
		"train-images-idx3-ubyte.gz": "",
	} {
		dir := writeIDX(t, 20, 2)
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		must.Input(t, must.Err(idxExamples(dir, 20, 2, 1)), strings.TrimSuffix(name, ".gz"), name)
	}
	must.Input(t, must.Err(idxExamples(dir, 301, 2, 1)), "", "too few items")
}

// TestPurchases: the file is read as far as it is needed, the class first; the generated
// examples are as sparse as they say.
func TestPurchases(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, purchaseFile), []byte("7,1,0\n3,0,1\n7,1,1\n9,0,0\nnot read"), 0o600))
	e, err := purchaseExamples(dir, 3, 1)
	if err != nil || !slices.Equal(e.train.X, []float64{1, 0, 0, 1, 1, 1}) || !slices.Equal(e.train.Classes, []string{"3", "7", "9"}) || !slices.Equal(e.train.Labels, []int32{1, 0, 1}) || e.test.Labels[0] != 2 {
		t.Errorf("%v: %+v", err, e.train)
	}
	must.Input(t, must.Err(purchaseExamples(dir, 4, 1)), "", "a line that is none")
	g := must.Get(generatedPurchases(400, 10))(t)
	ones := 0.0
	for _, x := range g.train.X {
		ones += x
	}
	// .03 and a tenth of .57, over 100 x 600 draws of the tenth: within .006 at 8 deviations.
	if share := ones / float64(len(g.train.X)); math.Abs(share-.087) > .006 {
		t.Errorf("a share of %v is 1", share)
	}
}

// TestReaches: a bound is reached on the line between its neighbours, and beyond the last
// on the last line.
func TestReaches(t *testing.T) {
	x := []float64{100, 200, 400}
	for _, c := range []struct {
		y           []float64
		value, want float64
	}{
		{[]float64{.1, .3, .5}, .2, 150}, {[]float64{.1, .3, .5}, .4, 300}, {[]float64{.1, .3, .5}, .6, 500}, {[]float64{.2, .3, .5}, .1, 0},
		{[]float64{.1, .3, .5}, 0, math.NaN()}, {[]float64{.1, .1, .1}, .2, math.NaN()}, {[]float64{0, 0, .4}, .2, 300},
	} {
		if got := reaches(x, c.y, c.value); math.Abs(got-c.want) > 1e-9 || math.IsNaN(got) != math.IsNaN(c.want) {
			t.Errorf("%v through %v: %v, want %v", c.value, c.y, got, c.want)
		}
	}
}

// TestBenchLiDP: tables come out, with published figures and a test accuracy.
func TestBenchLiDP(t *testing.T) {
	out := printedBy(t, "lidp", "-quick", "-dataset", "fashion", "-data", writeIDX(t, 100, 500), "-train", "100", "-n", "16", "-epsilons", "8")
	must.Say(t, out, "Fashion-MNIST", "[5.98]", "[7.75]", "Figures 5 (left)", "random gradient, epsilon = 8, K = 16, n = 16", "test accuracy", "random gradient, epsilon = 8, K = 4")
}
