package train

// A panel holds rows (or columns) of a matrix side by side: entry k of all of
// them, then entry k+1, padded with zeros to full panels. Both factors of a
// product are packed so, whatever their strides, and one kernel does all three
// products of a layer: forward, and backward to its inputs and to its weights.
const (
	tall     = 2 // rows in a panel of the left factor
	broad    = 4 // columns in a panel of the right factor
	depthway = 4 // steps along the inner dimension that the kernel unrolls
)

// padded rounds n up to a multiple of step.
func padded(n, step int) int { return (n + step - 1) / step * step }

// grown is a slice of n numbers, in list's memory where that suffices.
func grown[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	return list[:n]
}

// packed is a matrix in panels.
type packed struct {
	lines, depth int // as given; depth is the inner dimension
	stride       int // of one panel
	data         []float64
}

// pack stores lines x depth numbers, entry (i, k) at src[i*line+k*step], in
// panels of this many lines. It reuses p's memory.
func (p *packed) pack(src []float64, lines, depth, line, step, width int) {
	p.lines, p.depth = lines, depth
	p.stride = padded(depth, depthway) * width
	p.data = grown(p.data, padded(lines, width)/width*p.stride)
	for i := 0; i < lines; i += width {
		panel := p.data[i/width*p.stride:][:p.stride]
		for j := range width {
			if i+j >= lines {
				for to := j; to < len(panel); to += width {
					panel[to] = 0
				}
				continue
			}
			at, to := (i+j)*line, j
			for range depth {
				panel[to] = src[at]
				at += step
				to += width
			}
			for ; to < len(panel); to += width {
				panel[to] = 0
			}
		}
	}
}

// product writes a times b into c, rows of b.lines columns; with a bias, that is
// added. Each entry is a sum in the order of the inner dimension, so its bits do
// not depend on what else is in the matrix.
func product(a, b *packed, bias, c []float64) {
	rows, columns := a.lines, b.lines
	if a.depth != b.depth || len(c) < rows*columns {
		panic("train: sizes of a product do not match")
	}
	var out [tall * broad]float64
	for i := 0; i < rows; i += tall {
		left := a.data[i/tall*a.stride:][:a.stride]
		for j := 0; j < columns; j += broad {
			tile(left, b.data[j/broad*b.stride:][:b.stride], &out)
			for r := range min(tall, rows-i) {
				line := c[(i+r)*columns+j:]
				line = line[:min(broad, columns-j)]
				for s := range line {
					line[s] = out[r*broad+s]
				}
				if bias != nil {
					for s := range line {
						line[s] += bias[j+s]
					}
				}
			}
		}
	}
}

// tile multiplies two panels: eight sums in registers, four steps a turn.
func tile(a, b []float64, out *[tall * broad]float64) {
	var s00, s01, s02, s03, s10, s11, s12, s13 float64
	for len(a) >= tall*depthway && len(b) >= broad*depthway {
		x := (*[tall * depthway]float64)(a)
		y := (*[broad * depthway]float64)(b)
		s00 += float64(x[0] * y[0])
		s01 += float64(x[0] * y[1])
		s02 += float64(x[0] * y[2])
		s03 += float64(x[0] * y[3])
		s10 += float64(x[1] * y[0])
		s11 += float64(x[1] * y[1])
		s12 += float64(x[1] * y[2])
		s13 += float64(x[1] * y[3])

		s00 += float64(x[2] * y[4])
		s01 += float64(x[2] * y[5])
		s02 += float64(x[2] * y[6])
		s03 += float64(x[2] * y[7])
		s10 += float64(x[3] * y[4])
		s11 += float64(x[3] * y[5])
		s12 += float64(x[3] * y[6])
		s13 += float64(x[3] * y[7])

		s00 += float64(x[4] * y[8])
		s01 += float64(x[4] * y[9])
		s02 += float64(x[4] * y[10])
		s03 += float64(x[4] * y[11])
		s10 += float64(x[5] * y[8])
		s11 += float64(x[5] * y[9])
		s12 += float64(x[5] * y[10])
		s13 += float64(x[5] * y[11])

		s00 += float64(x[6] * y[12])
		s01 += float64(x[6] * y[13])
		s02 += float64(x[6] * y[14])
		s03 += float64(x[6] * y[15])
		s10 += float64(x[7] * y[12])
		s11 += float64(x[7] * y[13])
		s12 += float64(x[7] * y[14])
		s13 += float64(x[7] * y[15])
		a, b = a[tall*depthway:], b[broad*depthway:]
	}
	*out = [tall * broad]float64{s00, s01, s02, s03, s10, s11, s12, s13}
}

// dot is the sum of products of equally long lists, in four strands.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		x, y := (*[4]float64)(a), (*[4]float64)(b)
		s0 += float64(x[0] * y[0])
		s1 += float64(x[1] * y[1])
		s2 += float64(x[2] * y[2])
		s3 += float64(x[3] * y[3])
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += float64(a[i] * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// addScaled adds scale times row to sum.
func addScaled(sum, row []float64, scale float64) {
	for len(sum) >= 4 && len(row) >= 4 {
		x, y := (*[4]float64)(sum), (*[4]float64)(row)
		x[0] += float64(scale * y[0])
		x[1] += float64(scale * y[1])
		x[2] += float64(scale * y[2])
		x[3] += float64(scale * y[3])
		sum, row = sum[4:], row[4:]
	}
	for i := range sum {
		sum[i] += float64(scale * row[i])
	}
}
