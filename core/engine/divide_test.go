package engine

import "testing"

// TestShare holds that shares are contiguous, cover all pieces and differ by one at most,
// at numbers of pieces beyond what the product of the two would hold.
func TestShare(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {0, 3}, {1, 3}, {2, 3}, {7, 7}, {61036, 64}, {1 << 40, 100_000}, {1<<62 + 5, 64}} {
		pieces, n := c[0], c[1]
		next := 0
		for i := range n {
			first, end := Share(pieces, i, n)
			if size := end - first; first != next || size < pieces/n || size > pieces/n+1 {
				t.Fatalf("share %d of %d of %d pieces is %d to %d, after %d", i, n, pieces, first, end, next)
			}
			next = end
		}
		if next != pieces {
			t.Errorf("%d shares of %d pieces end at %d", n, pieces, next)
		}
	}
}
