package plot

import "slices"

// Viewer is what is shown, first nothing, as the hand moves it.
type Viewer struct {
	Scene   *Scene // nil while there is nothing to show
	Measure Measure
	Width   float64 // px

	views  []*View
	id     string            // of what is shown, or was asked for
	chosen map[string]string // by view
	Camera Camera
	at     int // the item that is read, -1 for none
}

// Take shows views, live those of a run on its way, and reports whether there were any. What was looked
// at stays, where it still is.
func (v *Viewer) Take(next []*View, live bool) bool {
	if len(next) == 0 && live {
		return false // it has not counted yet
	}
	shown, name, before := "", "", v.at
	if x := v.View(); x != nil {
		shown = x.ID
		if v.at >= 0 {
			name = x.Name(v.at)
		}
	}
	v.views, v.at = next, -1
	for _, x := range v.views {
		if id, ok := v.chosen[x.ID]; ok {
			x.Choose(id)
		}
	}
	same := live && shown == v.View().ID
	if !same {
		v.Camera = Everything
	}
	if v.lay(); !same || name == "" || v.Scene == nil {
		return true
	}
	n := len(v.Scene.Items)
	for i := range n { // what was read may lie elsewhere now, but seldom does
		if i = (before + i) % n; v.View().Name(i) == name {
			v.at = i
			break
		}
	}
	return true
}

// View is what is shown, nil where there is nothing.
func (v *Viewer) View() *View {
	if len(v.views) == 0 {
		return nil
	}
	i := max(0, slices.IndexFunc(v.views, func(x *View) bool { return x.ID == v.id }))
	return v.views[i]
}

// Views are those that there are.
func (v *Viewer) Views() (all []Choice) {
	for _, x := range v.views {
		all = append(all, Choice{x.ID, x.Title})
	}
	return all
}

// Show shows a view.
func (v *Viewer) Show(id string) {
	v.id, v.Camera, v.at = id, Everything, -1
	v.lay()
}

// Choose takes one of the view's choices.
func (v *Viewer) Choose(id string) {
	x := v.View()
	if x == nil {
		return
	}
	if v.chosen == nil {
		v.chosen = map[string]string{}
	}
	v.chosen[x.ID] = id
	beforeX, beforeY := x.Zooms()
	x.Choose(id)
	if nowX, nowY := x.Zooms(); nowX != beforeX || nowY != beforeY { // another picture
		v.Camera, v.at = Everything, -1
	}
	v.lay()
}

// Chosen is the choice that is taken, "" for the default.
func (v *Viewer) Chosen() string {
	if x := v.View(); x != nil {
		id := v.chosen[x.ID]
		if slices.ContainsFunc(x.Choices, func(c Choice) bool { return c.ID == id }) {
			return id
		}
	}
	return "" // of another report
}

// Resize lays the picture out for a width.
func (v *Viewer) Resize(width float64) {
	v.Width = width
	v.lay()
}

func (v *Viewer) lay() {
	v.Scene = nil
	if x := v.View(); x != nil && v.Width > 0 {
		v.Scene = x.Layout(Frame{Width: v.Width, Measure: v.Measure, Camera: v.Camera})
	}
}

// Whole reports whether all is shown.
func (v *Viewer) Whole() bool { return v.Camera == Everything }

// Pan moves the picture by pixels.
func (v *Viewer) Pan(dx, dy float64) {
	v.move(func(w Window, box Rect) Window { return w.pan(-dx / box.W) },
		func(w Window, box Rect) Window { return w.pan(-dy / box.H) })
}

// move changes the windows of axes that zoom, and reports whether that changed the picture.
func (v *Viewer) move(x, y func(Window, Rect) Window) bool {
	if v.Scene == nil {
		return false
	}
	before, box := v.Camera, v.Scene.Plot
	zoomsX, zoomsY := v.View().Zooms()
	if zoomsX {
		v.Camera.X = x(v.Camera.X, box)
	}
	if zoomsY {
		v.Camera.Y = y(v.Camera.Y, box)
	}
	if v.Camera == before {
		return false
	}
	v.lay()
	return true
}

// Zoom shows more by a factor, less below 1, about a place. It reports whether it could.
func (v *Viewer) Zoom(factor float64, p Point) bool {
	return v.move(func(w Window, box Rect) Window { return w.zoom(factor, min(1, max(0, (p.X-box.X)/box.W))) },
		func(w Window, box Rect) Window { return w.zoom(factor, min(1, max(0, (p.Y-box.Y)/box.H))) })
}

// ZoomRead zooms about what is read, or the middle.
func (v *Viewer) ZoomRead(factor float64) {
	if v.Scene == nil {
		return
	}
	about := v.Scene.Plot
	if v.at >= 0 {
		about = v.Scene.Items[v.at].Box
	}
	v.Zoom(factor, about.Middle())
}

// Reset shows the whole picture.
func (v *Viewer) Reset() {
	v.Camera = Everything
	v.lay()
}

// Point reads what is at a place. It reports whether that is another item.
func (v *Viewer) Point(p Point) bool {
	if v.Scene == nil {
		return false
	}
	before := v.at
	v.at = v.Scene.Hit(p)
	return v.at != before
}

// Leave reads nothing.
func (v *Viewer) Leave() { v.at = -1 }

// Step reads the next item, or the one before, and shows it.
func (v *Viewer) Step(by int) {
	if v.Scene == nil || len(v.Scene.Items) == 0 {
		return
	}
	if v.at < 0 && by < 0 {
		v.at = len(v.Scene.Items)
	}
	v.at = min(len(v.Scene.Items)-1, max(0, v.at+by))
	px, py := v.View().Position(v.at)
	v.move(func(w Window, _ Rect) Window { return w.show(px) }, func(w Window, _ Rect) Window { return w.show(py) })
}

// Read is the item that is read, and its words; -1 and "" for none.
func (v *Viewer) Read() (int, string) {
	if v.Scene == nil || v.at < 0 || v.at >= len(v.Scene.Items) {
		return -1, ""
	}
	return v.at, v.View().Tooltip(v.at)
}
