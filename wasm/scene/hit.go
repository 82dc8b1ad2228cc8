package scene

// Hit is the item at a place: the one whose box holds it, and among several the
// one whose middle is nearest; -1 where there is none.
func (s *Scene) Hit(p Point) int {
	best, least := -1, 0.0
	for i, it := range s.Items {
		if !it.Box.Has(p) {
			continue
		}
		d := hypot(it.Box.X+it.Box.W/2-p.X, it.Box.Y+it.Box.H/2-p.Y)
		if best < 0 || d < least {
			best, least = i, d
		}
	}
	return best
}
