package e2e

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/site/e2e/browser"
)

var (
	screenshots = flag.String("screenshots", "", "folder to write screenshots of the page to")
	everything  = flag.Bool("everything", false, "with -screenshots: more than the README's")
)

func resize(tab *browser.Tab, width, height int64) error {
	return chromedp.Do(tab.Ctx, chromedp.EmulateViewport(width, height))
}

// TestScreenshots writes the README's picture of the page, page.png, and five of each door
// of the page: wide, on a laptop, on a phone, dark, and with a result; with
// -everything also the page after runs with each kind of chart, light and dark, wide and
// on a small phone:
//
//	go test ./site/e2e -run TestScreenshots -screenshots ../screens
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("no -screenshots folder")
	}
	shoot(t, "page", "#v=1&mechanism=svt4&epsilon=1&seed=7&workers=2", 1280, 800, false, false)
	for _, r := range rooms[:4] {
		shootRoom(t, r)
	}
	if !*everything {
		return
	}
	for _, dark := range []bool{false, true} {
		for _, width := range []int64{360, 1400} {
			shootCalibration(t, fmt.Sprintf("calibration-%d-dark-%v", width, dark), width, dark)
			shootSamples(t, fmt.Sprintf("samples-%d-dark-%v", width, dark), width, dark)
			shootTable(t, fmt.Sprintf("table-%d-dark-%v", width, dark), width, dark)
			shootCanaries(t, fmt.Sprintf("canaries-%d-dark-%v", width, dark), width, dark)
			shootDocuments(t, width, dark)
			shootEmbed(t, fmt.Sprintf("embed-%d-dark-%v", width, dark), width, dark)
		}
	}
	for _, run := range []struct{ name, mechanism string }{
		{"outcomes", "svt4"}, {"histogram", "laplace-mean"}, {"score", "svt3"}, {"few", "randomised-response"}, {"learner", "naive-bayes&finder=corner-flip&p.table=iris-petals"},
	} {
		for _, dark := range []bool{false, true} {
			for _, width := range []int64{360, 1400} {
				name := fmt.Sprintf("%s-%d-dark-%v", run.name, width, dark)
				shoot(t, name, "#v=1&epsilon=1&samples=20000&trials=2&workers=2&mechanism="+run.mechanism, width, 900, dark, true)
			}
		}
	}
}

// drawn is whether the picture has the width of its place, and is of a run that has ended.
const drawn = `((svg) => !svg || !svg.checkVisibility() || (Math.abs(svg.getBoundingClientRect().width - svg.parentElement.getBoundingClientRect().width) < 2 && !document.querySelector("#say").textContent.startsWith("So far")))(document.querySelector("#chart .picture > svg"))`

// shootRoom writes five pictures of a door, as a visitor finds it and with a result.
func shootRoom(t *testing.T, r room) {
	t.Helper()
	at := func(tab *browser.Tab, name string, width, height int64, dark bool) {
		t.Helper()
		dress(t, tab, width, height, dark)
		eval[bool](t, tab, `(document.activeElement.blur(), scrollTo(0, 0), new Promise((done) => setTimeout(done, 700, true)))`) // marks have moved
		until(t, tab, drawn, 20*time.Second)
		develop(t, tab, r.door+"-"+name, chromedp.CaptureScreenshot())
	}
	tab := live(t, site+"#door="+r.door)
	arrived := map[string]string{ // what is audited on arrival has ended
		"explore":  `document.querySelector("#verdict").dataset.verdict === "no-violation-found"`,
		"code":     `window.dpscope.report?.inputs?.brought !== undefined`,
		"training": `window.dpscope.canaryReport !== null`,
	}
	if there, ok := arrived[r.door]; ok {
		until(t, tab, there+` && document.body.dataset.state !== "running"`, time.Minute)
	}
	at(tab, "wide", 1600, 900, false)
	at(tab, "laptop", 1280, 800, false)
	at(tab, "phone", 360, 740, false)
	at(tab, "dark", 1280, 800, true)
	dress(t, tab, 1280, 800, false)
	r.result(t, tab)
	at(tab, "result", 1280, 800, false)
	tab.Close()
}

// shoot runs the audit at a state and writes a picture of the page.
func shoot(t *testing.T, name, fragment string, width, height int64, dark, whole bool) {
	t.Helper()
	tab := open(t, fragment)
	dress(t, tab, width, height, dark)
	click(t, tab, "#run")
	finish(t, tab, 2*time.Minute)
	until(t, tab, `document.querySelectorAll("#chart .picture svg").length === 1`, 5*time.Second)
	eval[bool](t, tab, `(document.activeElement.blur(), scrollTo(0, 0), true)`)
	capture := chromedp.CaptureScreenshot()
	if whole {
		capture = chromedp.FullScreenshot(100)
	}
	develop(t, tab, name, capture)
}

// shootCalibration measures the tool's own error rate, and writes a picture of
// its panel on the way and at the end.
func shootCalibration(t *testing.T, name string, width int64, dark bool) {
	t.Helper()
	tab := calibrating(t, "40", "1")
	dress(t, tab, width, 900, dark)
	click(t, tab, "#calibrate")
	until(t, tab, `document.querySelector("#calibration-phase").textContent.includes("left")`, time.Minute)
	develop(t, tab, name+"-running", chromedp.Screenshot("#calibration"))
	until(t, tab, calibrationDone, 5*time.Minute)
	develop(t, tab, name, chromedp.Screenshot("#calibration"))
}

// shootTable writes a picture of the dialog of a table, and of the page after an audit.
func shootTable(t *testing.T, name string, width int64, dark bool) {
	t.Helper()
	tab := open(t, "")
	dress(t, tab, width, 900, dark)
	enter(t, tab, "data")
	tableDialog(t, tab, writeTable(t))
	for id, text := range map[string]string{"mechanism": "naive-bayes-counts", "epsilon": "1", "samples": "20000", "lower-0": "0", "upper-0": "120", "lower-1": "1"} {
		fill(t, tab, "table-"+id, text)
	}
	click(t, tab, "#table button.primary")
	until(t, tab, `document.querySelector("#table-lower-1-error").textContent !== ""`, 20*time.Second)
	eval[bool](t, tab, `(document.querySelector("#table").scrollTop = 0, true)`)
	develop(t, tab, name+"-dialog", chromedp.CaptureScreenshot())
	eval[bool](t, tab, `(document.querySelector("#table").scrollTop = 9999, true)`)
	develop(t, tab, name+"-dialog-end", chromedp.CaptureScreenshot())
	fill(t, tab, "table-upper-1", "2.2")
	click(t, tab, "#table button.primary")
	until(t, tab, `!document.querySelector("#table").open`, 20*time.Second)
	finish(t, tab, time.Minute)
	develop(t, tab, name, chromedp.FullScreenshot(100))
}

// shootSamples writes a picture of the panel of samples with a file in it, and of
// the page after their audit.
func shootSamples(t *testing.T, name string, width int64, dark bool) {
	t.Helper()
	tab := open(t, "")
	dress(t, tab, width, 900, dark)
	drop(t, tab, "count.csv", noisyCounts(3000, 0.5, 1))
	until(t, tab, samplesRead+` && document.querySelectorAll("#yours-preview .picture svg").length === 2`, time.Minute)
	develop(t, tab, name+"-preview", chromedp.Screenshot("#yours"))
	fill(t, tab, "epsilon", "1")
	runSamples(t, tab, time.Minute)
	eval[bool](t, tab, `(document.activeElement.blur(), scrollTo(0, 0), true)`)
	develop(t, tab, name, chromedp.FullScreenshot(100))
}

// shootCanaries audits a small model with canaries, and writes a picture of the
// panel on the way and at the end, and of a Gaussian sum's.
func shootCanaries(t *testing.T, name string, width int64, dark bool) {
	t.Helper()
	tab := planting(t, "&source=dp-sgd&n=60&k=8&m=32&p.steps=20&p.hidden=8&p.examples=200")
	dress(t, tab, width, 900, dark)
	click(t, tab, "#canaries-run")
	until(t, tab, `document.querySelector("#planted .chart-words") && document.querySelectorAll("#planted .picture ~ div tbody tr").length > 0`, time.Minute)
	develop(t, tab, name+"-running", chromedp.Screenshot("#canaries"))
	planted(t, tab, 5*time.Minute)
	eval[bool](t, tab, `([...document.querySelectorAll("#canaries-presets button")][0].click(), true)`)
	click(t, tab, "#canaries-run")
	until(t, tab, canaryReport+`?.plan.source === "gaussian-sum" && `+canaryIdle, 5*time.Minute)
	develop(t, tab, name, chromedp.Screenshot("#canaries"))
	click(t, tab, "#canaries-one")
	until(t, tab, canaryReport+`?.kind === "one-run" && `+canaryIdle, time.Minute)
	develop(t, tab, name+"-one", chromedp.Screenshot("#canaries"))
	var given strings.Builder
	given.WriteString("in,out\n")
	for i := range 300 {
		fmt.Fprintf(&given, "%d,%d\n", i%97+40, i%89)
	}
	set(t, tab, "k-scores-relation", "add-remove")
	give(t, tab, scored{"scores.csv", given.String()})
	until(t, tab, canaryReport+`?.kind === "scores" && `+canaryIdle, time.Minute)
	develop(t, tab, name+"-scores", chromedp.Screenshot("#canaries"))
}

// shootDocuments writes pictures of some pages of docs.
func shootDocuments(t *testing.T, width int64, dark bool) {
	t.Helper()
	for _, name := range []string{"museum/index", "museum/svt3", "findings/pure-threshold", "bounds/divergences"} {
		tab, err := browser.Open(profile(t), site+"docs/"+name+".html")
		if err != nil {
			t.Fatal(err)
		}
		dress(t, tab, width, 900, dark)
		develop(t, tab, fmt.Sprintf("docs-%s-%d-dark-%v", filepath.Base(name), width, dark), chromedp.FullScreenshot(100))
		tab.Close()
	}
}

// dress sets a tab's size and its colours.
func dress(t *testing.T, tab *browser.Tab, width, height int64, dark bool) {
	t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(tab.Ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	if err := resize(tab, width, height); err != nil {
		t.Fatal(err)
	}
}

// develop writes a picture, of 256 colours where that is most of them.
func develop(t *testing.T, tab *browser.Tab, name string, capture chromedp.Action[[]byte]) {
	t.Helper()
	data, err := chromedp.Run(tab.Ctx, capture)
	if err != nil {
		t.Fatal(err)
	}
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&small, fewColours(full)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(*screenshots, name+".png")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, small.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fewColours is a picture in its 256 most frequent colours: a page has few, and the
// many between them are the edges of letters.
func fewColours(full image.Image) *image.Paletted {
	count := map[color.RGBA]int{}
	box := full.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	colours := slices.Collect(maps.Keys(count))
	slices.SortFunc(colours, func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var palette color.Palette
	for _, c := range colours[:min(len(colours), 256)] {
		palette = append(palette, c)
	}
	nearest := map[color.RGBA]uint8{}
	for c := range count {
		nearest[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(box, palette)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			small.SetColorIndex(x, y, nearest[at(x, y)])
		}
	}
	return small
}
