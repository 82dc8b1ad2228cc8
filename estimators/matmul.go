package estimators

// real is what the kernels of networks compute in: float32 in models, float64
// where tests want exact gradients.
type real interface{ ~float32 | ~float64 }

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

// packed is a matrix in panels.
type packed[T real] struct {
	lines, depth int // as given; depth is the inner dimension
	stride       int // of one panel
	data         []T
}

// pack stores lines x depth numbers, entry (i, k) at src[i*line+k*step], in
// panels of this many lines. It reuses p's memory.
func (p *packed[T]) pack(src []T, lines, depth, line, step, width int) {
	p.lines, p.depth = lines, depth
	deep := padded(depth, depthway)
	p.stride = deep * width
	n := padded(lines, width) / width * p.stride
	if cap(p.data) < n {
		p.data = make([]T, n)
	}
	p.data = p.data[:n]
	for i := 0; i < lines; i += width {
		panel := p.data[i/width*p.stride:][:p.stride]
		for j := range width {
			if i+j >= lines {
				for k := range deep {
					panel[k*width+j] = 0
				}
				continue
			}
			at := (i + j) * line
			to := j
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

// product writes a times b into c, rows of len(bias) or b.lines columns; with a
// bias, that is added. Each entry is a sum in the order of the inner dimension,
// so its bits do not depend on what else is in the matrix.
func product[T real](a, b *packed[T], bias, c []T) {
	rows, columns := a.lines, b.lines
	if a.depth != b.depth || len(c) < rows*columns {
		panic("estimators: sizes of a product do not match")
	}
	var out [tall * broad]T
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
func tile[T real](a, b []T, out *[tall * broad]T) {
	var s00, s01, s02, s03, s10, s11, s12, s13 T
	for len(a) >= tall*depthway && len(b) >= broad*depthway {
		x := (*[tall * depthway]T)(a)
		y := (*[broad * depthway]T)(b)
		s00 += T(x[0] * y[0])
		s01 += T(x[0] * y[1])
		s02 += T(x[0] * y[2])
		s03 += T(x[0] * y[3])
		s10 += T(x[1] * y[0])
		s11 += T(x[1] * y[1])
		s12 += T(x[1] * y[2])
		s13 += T(x[1] * y[3])

		s00 += T(x[2] * y[4])
		s01 += T(x[2] * y[5])
		s02 += T(x[2] * y[6])
		s03 += T(x[2] * y[7])
		s10 += T(x[3] * y[4])
		s11 += T(x[3] * y[5])
		s12 += T(x[3] * y[6])
		s13 += T(x[3] * y[7])

		s00 += T(x[4] * y[8])
		s01 += T(x[4] * y[9])
		s02 += T(x[4] * y[10])
		s03 += T(x[4] * y[11])
		s10 += T(x[5] * y[8])
		s11 += T(x[5] * y[9])
		s12 += T(x[5] * y[10])
		s13 += T(x[5] * y[11])

		s00 += T(x[6] * y[12])
		s01 += T(x[6] * y[13])
		s02 += T(x[6] * y[14])
		s03 += T(x[6] * y[15])
		s10 += T(x[7] * y[12])
		s11 += T(x[7] * y[13])
		s12 += T(x[7] * y[14])
		s13 += T(x[7] * y[15])
		a, b = a[tall*depthway:], b[broad*depthway:]
	}
	*out = [tall * broad]T{s00, s01, s02, s03, s10, s11, s12, s13}
}
