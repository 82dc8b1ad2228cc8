// Package matmul multiplies matrices. Sums run in a fixed order and every product is rounded before
// it is added, so results have the same bits on every platform.
package matmul

// Real is what is computed in: float32 in models, float64 where gradients are exact.
type Real interface{ ~float32 | ~float64 }

// A panel holds rows (or columns) of a matrix side by side: entry k of all of them, then entry k+1,
// padded with zeros. Both factors of a product are packed so, whatever their strides, for one
// kernel.
const (
	tall     = 2 // rows in a panel of the left factor
	broad    = 4 // columns in a panel of the right factor
	depthway = 4 // steps along the inner dimension that the kernel unrolls
)

func padded(n, step int) int { return (n + step - 1) / step * step }

// Packed is a matrix in panels, a factor of a product. The zero value is empty.
type Packed[T Real] struct {
	lines, depth int // as given; depth is the inner dimension
	width        int // lines in a panel
	stride       int // of one panel
	data         []T
}

// Left makes p a left factor of lines x depth numbers, entry (i, k) at src[i*line+k*step]. It
// reuses p's memory.
func (p *Packed[T]) Left(src []T, lines, depth, line, step int) {
	p.pack(src, lines, depth, line, step, tall)
}

// Right makes p a right factor of depth x lines numbers, (k, j) at src[j*line+k*step], as Left.
func (p *Packed[T]) Right(src []T, lines, depth, line, step int) {
	p.pack(src, lines, depth, line, step, broad)
}

// pack stores lines x depth numbers in panels of this many lines.
func (p *Packed[T]) pack(src []T, lines, depth, line, step, width int) {
	p.lines, p.depth, p.width = lines, depth, width
	deep := padded(depth, depthway)
	p.stride = deep * width
	p.data = Resized(p.data, padded(lines, width)/width*p.stride)
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

// Product writes a, a left factor, times b, a right one, into c, row by row; to each row the bias
// is added, if there is one. Each entry is a sum in the order of the inner dimension.
func Product[T Real](a, b *Packed[T], bias, c []T) {
	rows, columns := a.lines, b.lines
	if a.width != tall || b.width != broad {
		panic("matmul: want a left factor times a right one")
	}
	if a.depth != b.depth || len(c) < rows*columns {
		panic("matmul: sizes of a product do not match")
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
func tile[T Real](a, b []T, out *[tall * broad]T) {
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

// Dot is the sum of products of equally long lists, in four strands.
func Dot[T Real](a, b []T) T {
	var s0, s1, s2, s3 T
	for len(a) >= 4 && len(b) >= 4 {
		x, y := (*[4]T)(a), (*[4]T)(b)
		s0 += T(x[0] * y[0])
		s1 += T(x[1] * y[1])
		s2 += T(x[2] * y[2])
		s3 += T(x[3] * y[3])
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += T(a[i] * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// AddScaled adds scale times row to sum.
func AddScaled[T Real](sum, row []T, scale T) {
	for len(sum) >= 4 && len(row) >= 4 {
		x, y := (*[4]T)(sum), (*[4]T)(row)
		x[0] += T(scale * y[0])
		x[1] += T(scale * y[1])
		x[2] += T(scale * y[2])
		x[3] += T(scale * y[3])
		sum, row = sum[4:], row[4:]
	}
	for i := range sum {
		sum[i] += T(scale * row[i])
	}
}

// Resized is a slice of n numbers, in list's memory where that suffices.
func Resized[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	return list[:n]
}
