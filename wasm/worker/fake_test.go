package main

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms"
)

// fakePort is one end of a channel between goroutines.
type fakePort struct {
	peer *fakePort
	mail mailbox
	done chan struct{}
	once sync.Once
}

// fakePorts is a channel's two ends, closed at the end of the test.
func fakePorts(t *testing.T) (a, b *fakePort) {
	a = &fakePort{mail: newMailbox(), done: make(chan struct{})}
	b = &fakePort{mail: newMailbox(), done: make(chan struct{}), peer: a}
	a.peer = b
	t.Cleanup(func() { a.close(); b.close() })
	return a, b
}

func (p *fakePort) post(m message) { p.peer.mail.put(m) }

func (p *fakePort) listen(handle func(message)) {
	go func() {
		for {
			var all []message
			select {
			case <-p.done:
				return
			case all = <-p.mail:
			}
			for _, m := range all {
				select {
				case <-p.done:
					return
				default:
					handle(m)
				}
			}
		}
	}()
}

// taken are the messages that nobody listened to.
func (p *fakePort) taken() []message {
	select {
	case all := <-p.mail:
		return all
	default:
		return nil
	}
}

func (p *fakePort) close() { p.once.Do(func() { close(p.done) }) }

// fakePage is the page's side of a coordinator.
type fakePage struct {
	t         *testing.T
	port      *fakePort // to the coordinator
	onReplace func(number int)

	mu       sync.Mutex
	lastID   int
	waiting  map[int]chan message
	progress []pair.Progress
	told     []message // the same, as it came
	replaced []message
	ready    chan message
}

// newPage starts a coordinator and n task workers, all in this process.
func newPage(t *testing.T, cat audit.Catalogue, n int) *fakePage {
	p := startPage(t, cat, nil)
	for i := range n {
		p.attach(i, cat)
	}
	return p
}

// newSamplesPage starts the role of samples in this process.
func newSamplesPage(t *testing.T, cat audit.Catalogue) *fakePage {
	return startPage(t, cat, func() { time.Sleep(time.Microsecond) })
}

func startPage(t *testing.T, cat audit.Catalogue, pause func()) *fakePage {
	here, there := fakePorts(t)
	p := &fakePage{t: t, port: here, waiting: map[int]chan message{}, ready: make(chan message, 1)}
	p.onReplace = func(number int) { p.attach(number, cat) }
	here.listen(p.onMessage)
	coordinate(cat, there, audit.Generator{Name: "dpscope", Version: audit.Version, CoreSHA256: "sum"}, 0, pause)
	return p
}

func (p *fakePage) onMessage(m message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m.Type {
	case msgReady:
		p.ready <- m
	case msgProgress:
		var g pair.Progress
		if err := json.Unmarshal([]byte(m.JSON), &g); err != nil {
			p.t.Errorf("progress: %v", err)
		}
		p.progress, p.told = append(p.progress, g), append(p.told, m)
	case msgReplace:
		p.replaced = append(p.replaced, m)
		go p.onReplace(m.Worker)
	default:
		answer := p.waiting[m.ID]
		if answer == nil {
			p.t.Errorf("answer %q to no request: id %d", m.Type, m.ID)
			return
		}
		delete(p.waiting, m.ID)
		answer <- m
	}
}

// attach connects a task worker that really executes tasks.
func (p *fakePage) attach(number int, cat audit.Catalogue) {
	a, b := fakePorts(p.t)
	page, worker := fakePorts(p.t)
	serveTasks(cat, worker, number, func() { time.Sleep(time.Microsecond) })
	page.post(message{Type: msgServe, Port: b})
	p.port.post(message{Type: msgAttach, Worker: number, Port: a})
}

// attachDeaf connects a worker that never answers; what it is sent arrives on
// the returned port.
func (p *fakePage) attachDeaf(number int) *fakePort {
	a, b := fakePorts(p.t)
	p.port.post(message{Type: msgAttach, Worker: number, Port: a})
	return b
}

// ask posts a call and returns its id and where the answer will come. A plan is asked for
// by its settings.
func (p *fakePage) ask(call string, value any, files ...userFile) (int, chan message) {
	text, isText := value.(string)
	if !isText {
		text = mustJSON(asking(call, value))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastID++
	answer := make(chan message, 1)
	p.waiting[p.lastID] = answer
	p.port.post(message{Type: call, ID: p.lastID, JSON: text, Files: files})
	return p.lastID, answer
}

func asking(call string, value any) any {
	var w wanted
	switch p := value.(type) {
	case pair.Plan:
		w = wanted{report.Pair, textsOf(pair.Keys(), p)}
	case canary.Plan:
		w = wanted{canary.Kind, textsOf(canary.Keys(), p)}
	case calibration.Plan:
		return textsOf(calibration.Keys(), p)
	case accounting.Query:
		return textsOf(accounting.Keys(), p)
	default:
		return value
	}
	if call == "check" {
		return w.Settings
	}
	return w
}

// textsOf are the settings of a plan, but for parameters.
func textsOf[P any](keys []settings.Key[P], p P) settings.Texts {
	texts := settings.Texts{}
	for _, x := range settings.Written(keys, p, *new(P)) {
		texts[x.Name] = x.Value
	}
	return texts
}

// answerTo asks, waits, and reads the answer, which is a refusal where that is wanted.
func answerTo[T any](p *fakePage, call string, value any, files ...userFile) T {
	p.t.Helper()
	_, answer := p.ask(call, value, files...)
	return valueOf[T](p, <-answer)
}

func valueOf[T any](p *fakePage, m message) T {
	p.t.Helper()
	var v T
	want := msgAnswer
	switch any(v).(type) {
	case refusal:
		want = msgRefused
	case ready:
		want = msgReady
	}
	if m.Type != want {
		p.t.Fatalf("answer %q %s, want %q", m.Type, m.JSON, want)
	}
	if err := json.Unmarshal([]byte(m.JSON), &v); err != nil {
		p.t.Fatalf("answer %q: %v", m.Type, err)
	}
	return v
}

func reportIn(t *testing.T, r reported) pair.Report { return readIn[pair.Report](t, r) }

// readIn is the report of an answer, of the kind R.
func readIn[R report.View](t *testing.T, r reported) R {
	t.Helper()
	v := must.Get(core.ParseReport([]byte(r.Text)))(t)
	if text, _ := audit.Canonical(v); string(text) != r.Text {
		t.Error("the text is not the report's canonical form")
	}
	return v.(R)
}

// slowBlock is how long the mechanism slow takes for one call, of the clock
// that the test has.
const slowBlock = 5 * time.Millisecond

// testCatalogue is the real one and three mechanisms more: slow is randomised
// response that sleeps, touchy one that fails with an error about the input,
// and bursting one that panics.
func testCatalogue() audit.Catalogue {
	base := mechanisms.All()[0]
	variant := func(name string, wrap func(audit.Mechanism) audit.Mechanism) audit.MechanismSpec {
		spec := base
		spec.Name = name
		spec.New = func(p audit.Params) (audit.Mechanism, error) {
			m, err := base.New(p)
			return wrap(m), err
		}
		return spec
	}
	all := append([]audit.MechanismSpec{}, mechanisms.All()...)
	all = append(all,
		variant("slow", func(m audit.Mechanism) audit.Mechanism {
			return altered{m, func() error { time.Sleep(slowBlock); return nil }}
		}),
		variant("touchy", func(m audit.Mechanism) audit.Mechanism {
			return altered{m, func() error { return &audit.InputError{Field: "mood", Found: "bad", Want: "good", Remedy: "wait"} }}
		}),
		variant("bursting", func(m audit.Mechanism) audit.Mechanism {
			return altered{m, func() error { panic("burst") }}
		}))
	return audit.Catalogue{Mechanisms: all, Learners: estimators.All, Finders: finders.All}
}

// altered is a mechanism that does something before it samples.
type altered struct {
	audit.Mechanism
	first func() error
}

func (a altered) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := a.first(); err != nil {
		return err
	}
	return a.Mechanism.Sample(d, s, out)
}

func testPlan(mechanism string, samples int) pair.Plan {
	return pair.Plan{Version: pair.PlanVersion, Mode: pair.Fixed, Mechanism: mechanism, Samples: samples, Explore: 4000, Trials: 2, Seed: 7}
}

// alone runs a plan without any message.
func alone(t *testing.T, cat audit.Catalogue, plan pair.Plan) pair.Report {
	t.Helper()
	r := must.Get(pair.Run{Plan: plan, Catalogue: cat, Pool: engine.LocalPool(1)}.Do(context.Background()))(t)
	return r
}

func hasWarning(r pair.Report, word string) bool {
	return strings.Contains(strings.Join(r.Warnings, " "), word)
}
