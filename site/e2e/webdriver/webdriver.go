// Package webdriver speaks WebDriver (W3C Recommendation, 5 June 2018) with WebKitGTK through Debian's WebKitWebDriver,
// and with Firefox by Marionette, the same commands over TCP as a number of bytes, a colon and an array of JSON: Debian
// has no geckodriver, which Go's libraries want.
package webdriver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/try"
)

const patience = 90 * time.Second // for a browser to start

type object = map[string]any

// Browser is a browser with one window. Its methods are for one goroutine.
type Browser struct {
	Name    string // and version
	engine  string
	call    func(ctx context.Context, command string, body any) (json.RawMessage, error)
	console func() ([]string, error)
}

type engine struct {
	programs []string // all are needed
	start    func(t testing.TB, b *Browser, dir string)
}

var engines = map[string]engine{
	"firefox": {[]string{"firefox-esr"}, startFirefox},
	"webkit":  {[]string{"WebKitWebDriver", "Xvfb"}, startWebKit},
}

// Engines are the names that [Start] knows.
var Engines = []string{"firefox", "webkit"}

// Start starts a browser, which ends with the test.
func Start(t testing.TB, name string) *Browser {
	t.Helper()
	e := engines[name]
	for _, p := range e.programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Fatalf("%s needs %s: %v; on Debian: apt-get install firefox-esr webkit2gtk-driver xvfb (./build.sh test-all does it)", name, p, exec.ErrNotFound)
		}
	}
	dir := must.Get(os.MkdirTemp("", "dpscope-"+name+"-"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	b := &Browser{engine: name}
	e.start(t, b, dir)
	limits := object{"script": time.Hour.Milliseconds(), "pageLoad": time.Minute.Milliseconds()}
	must.Get(b.do(context.Background(), "timeouts", limits))(t)
	return b
}

func (b *Browser) do(ctx context.Context, command string, body any) (json.RawMessage, error) {
	answer, err := b.call(ctx, command, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", b.engine, command, err)
	}
	return answer, nil
}

func (b *Browser) opened(t testing.TB, answer json.RawMessage) (session string) {
	var s struct {
		SessionID    string `json:"sessionId"`
		Capabilities struct {
			Name    string `json:"browserName"`
			Version string `json:"browserVersion"`
		} `json:"capabilities"`
	}
	must.Do(t, json.Unmarshal(answer, &s))
	b.Name = s.Capabilities.Name + " " + s.Capabilities.Version
	return s.SessionID
}

// Navigate loads an address, even where only its fragment is new.
func (b *Browser) Navigate(ctx context.Context, url string) (err error) {
	defer try.To(&err)
	for _, u := range []string{"about:blank", url} {
		try.Get(b.do(ctx, "url", object{"url": u}))
	}
	return nil
}

// Resize sets the size of the page, in CSS pixels.
func (b *Browser) Resize(ctx context.Context, width, height int) (err error) {
	defer try.To(&err)
	w, h := width, height
	for range 4 { // the browser's bars take a part, and the window may take its time
		try.Get(b.do(ctx, "window/rect", object{"width": w, "height": h}))
		got := try.Get(Eval[[2]int](ctx, b, "new Promise((done) => setTimeout(() => done([innerWidth, innerHeight]), 200))"))
		if got == [2]int{width, height} {
			return nil
		}
		w, h = w+width-got[0], h+height-got[1]
	}
	return fmt.Errorf("%s: the window does not come to %d by %d", b.engine, width, height)
}

// Click is [Browser.ClickAt] the first element of a selector.
func (b *Browser) Click(ctx context.Context, selector string) error {
	return b.ClickAt(ctx, fmt.Sprintf("document.querySelector(%q)", selector))
}

// ClickAt scrolls to an element and presses the mouse over its middle, if nothing else is over it.
func (b *Browser) ClickAt(ctx context.Context, element string) (err error) {
	defer try.To(&err)
	at := try.Get(Eval[[]any](ctx, b, `((e) => {
		if (!e) return ["is not there"];
		e.scrollIntoView({ block: "nearest", behavior: "instant" });
		const r = e.getBoundingClientRect(), x = Math.floor(r.left + r.width / 2), y = Math.floor(r.top + r.height / 2), over = e.getRootNode().elementFromPoint(x, y);
		return over && (e.contains(over) || over.contains(e)) ? ["", x, y] : ["is below " + (over?.outerHTML.slice(0, 80) ?? "nothing: outside of the window")];
	})(`+element+`)`))
	if at[0] != "" {
		return fmt.Errorf("%s: %s %s", b.engine, element, at[0])
	}
	_, err = b.do(ctx, "actions", object{"actions": []any{object{
		"type": "pointer", "id": "mouse", "parameters": object{"pointerType": "mouse"},
		"actions": []any{
			object{"type": "pointerMove", "x": at[1], "y": at[2], "duration": 0, "origin": "viewport"},
			object{"type": "pointerDown", "button": 0},
			object{"type": "pointerUp", "button": 0},
		},
	}}})
	return err
}

// Console are the errors and warnings so far, the content policy's too.
func (b *Browser) Console() ([]string, error) { return b.console() }

// Until waits for a JavaScript expression to be true.
func (b *Browser) Until(ctx context.Context, expression string) error {
	for {
		is, err := Eval[bool](ctx, b, "!!("+expression+")")
		if err != nil && ctx.Err() == nil || is {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: waiting for %s: %w", b.engine, expression, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Eval evaluates JavaScript, awaiting a promise.
func Eval[T any](ctx context.Context, b *Browser, expression string) (v T, err error) {
	defer try.To(&err)
	script := "const done = arguments[arguments.length - 1]; (async () => (" + expression + "\n))().then((value) => done(JSON.stringify({ value })), (fault) => done(JSON.stringify({ fault: String(fault) })));"
	answer := try.Get(b.do(ctx, "execute/async", object{"script": script, "args": []any{}}))
	var text string
	try.Of(fmt.Sprintf("%s answers %.200s", expression, answer), json.Unmarshal(answer, &text))
	said := struct {
		Value *T
		Fault string
	}{Value: &v}
	try.Of(fmt.Sprintf("%s is %.200s", expression, text), json.Unmarshal([]byte(text), &said))
	if said.Fault != "" {
		return v, errors.New(said.Fault)
	}
	return v, nil
}

// run starts a program that ends with the test; it returns what that has printed so far.
func run(t testing.TB, dir string, environment []string, program string, args ...string) func() string {
	printed := must.Get(os.Create(filepath.Join(dir, program+".txt")))(t)
	defer printed.Close() // of this process; the program has its own
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, printed, printed
	cmd.Env = append(append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir), environment...)
	must.Do(t, cmd.Start())
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(3 * time.Second):
			cmd.Process.Kill()
			<-ended
		}
	})
	return func() string {
		text, _ := os.ReadFile(printed.Name())
		return string(text)
	}
}

func appears(t testing.TB, what string, said, look func() string) string {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if v := look(); v != "" {
			return v
		}
	}
	t.Fatalf("no %s after %v; it said:\n%.2000s", what, patience, said())
	return ""
}

func startWebKit(t testing.TB, b *Browser, dir string) {
	said := run(t, dir, nil, "Xvfb", "-displayfd", "1", "-screen", "0", "1800x1400x24", "-nolisten", "tcp")
	screen := appears(t, "screen", said, func() string {
		for line := range strings.Lines(said()) {
			if _, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && strings.HasSuffix(line, "\n") {
				return strings.TrimSpace(line)
			}
		}
		return ""
	})
	free := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := free.Addr().String()
	free.Close()
	printed := run(t, dir, []string{"DISPLAY=:" + screen, "GDK_BACKEND=x11", "NO_AT_BRIDGE=1", "LIBGL_ALWAYS_SOFTWARE=1"}, "WebKitWebDriver", "--port="+address[strings.LastIndex(address, ":")+1:])
	base := "http://" + address + "/session"
	ask := func(ctx context.Context, method, url string, body any) (_ json.RawMessage, err error) {
		defer try.To(&err)
		data := try.Get(json.Marshal(body))
		request := try.Get(http.NewRequestWithContext(ctx, method, url, bytes.NewReader(data)))
		response := try.Get(http.DefaultClient.Do(request))
		defer response.Body.Close()
		data = try.Get(io.ReadAll(response.Body))
		var answer struct{ Value json.RawMessage }
		try.Of(fmt.Sprintf("%.200s", data), json.Unmarshal(data, &answer))
		if response.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%.2000s", answer.Value)
		}
		return answer.Value, nil
	}
	appears(t, "driver", printed, func() string {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return ""
		}
		c.Close()
		return address
	})
	options := object{}
	if path := miniBrowser(); path != "" { // it prints what the console says
		options["webkitgtk:browserOptions"] = object{"binary": path, "args": []string{"--automation", "--enable-write-console-messages-to-stdout=true"}}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := ask(ctx, http.MethodPost, base, object{"capabilities": object{"alwaysMatch": options}})
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, printed())
	}
	base += "/" + b.opened(t, answer)
	b.call = func(ctx context.Context, command string, body any) (json.RawMessage, error) {
		return ask(ctx, http.MethodPost, base+"/"+command, body)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		ask(ctx, http.MethodDelete, base, nil)
	})
	b.console = func() ([]string, error) {
		var lines []string
		for line := range strings.Lines(printed()) {
			if strings.Contains(line, "CONSOLE ") && (strings.Contains(line, " ERROR ") || strings.Contains(line, " WARN ")) {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		return lines, nil
	}
}

func miniBrowser() string {
	for _, pattern := range []string{"/usr/lib/*/webkit*gtk-*/MiniBrowser", "/usr/libexec/webkit*gtk-*/MiniBrowser", "/usr/lib/webkit*gtk-*/MiniBrowser"} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[len(found)-1]
		}
	}
	return ""
}

// marionette are the names that Firefox has for commands of WebDriver.
var marionette = map[string]string{
	"timeouts": "WebDriver:SetTimeouts", "url": "WebDriver:Navigate", "window/rect": "WebDriver:SetWindowRect",
	"actions": "WebDriver:PerformActions", "execute/async": "WebDriver:ExecuteAsyncScript", "session": "WebDriver:NewSession",
}

// preferences of a Firefox that asks the page alone.
const preferences = `user_pref("marionette.port", 0);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.server", "data:,");
user_pref("services.settings.server", "data:,");
user_pref("app.normandy.enabled", false);
user_pref("nimbus.rollouts.enabled", false);
user_pref("app.update.disabledForTesting", true);
user_pref("browser.safebrowsing.provider.mozilla.updateURL", "");
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("network.proxy.type", 0);
`

func startFirefox(t testing.TB, b *Browser, dir string) {
	must.Do(t, os.WriteFile(filepath.Join(dir, "user.js"), []byte(preferences), 0o600))
	printed := run(t, dir, []string{"MOZ_CRASHREPORTER_DISABLE=1"}, "firefox-esr", "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", dir, "about:blank")
	port := appears(t, "port", printed, func() string {
		data, _ := os.ReadFile(filepath.Join(dir, "MarionetteActivePort"))
		return string(data)
	})
	link := must.Get(net.Dial("tcp", "127.0.0.1:"+port))(t)
	t.Cleanup(func() { link.Close() })
	m := &marionetteLink{link: link, read: bufio.NewReader(link)}
	must.Get(m.next())(t) // it greets
	b.call = func(ctx context.Context, command string, body any) (json.RawMessage, error) {
		return m.call(ctx, marionette[command], body)
	}
	b.opened(t, must.Get(b.do(context.Background(), "session", object{"capabilities": object{}}))(t))
	b.console = func() (lines []string, err error) {
		defer try.To(&err)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		try.Get(m.call(ctx, "Marionette:SetContext", object{"value": "chrome"}))
		answer := try.Get(m.call(ctx, "WebDriver:ExecuteScript", object{"args": []any{}, "script": `
			return Services.console.getMessageArray().filter((m) => m instanceof Ci.nsIScriptError && /^(https?|blob):/.test(m.sourceName) && !(m.flags & Ci.nsIScriptError.infoFlag))
				.map((m) => m.errorMessage + " (" + m.sourceName + ":" + m.lineNumber + ")");`}))
		try.Do(json.Unmarshal(answer, &lines))
		_, err = m.call(ctx, "Marionette:SetContext", object{"value": "content"})
		return lines, err
	}
}

type marionetteLink struct {
	link net.Conn
	read *bufio.Reader
	last int
}

func (m *marionetteLink) next() (message []byte, err error) {
	defer try.To(&err)
	length := try.Get(m.read.ReadString(':'))
	n, err := strconv.Atoi(strings.TrimSuffix(length, ":"))
	if err != nil || n < 0 || n > 1<<28 {
		return nil, fmt.Errorf("a message of %q bytes", length)
	}
	message = make([]byte, n)
	_, err = io.ReadFull(m.read, message)
	return message, err
}

func (m *marionetteLink) call(ctx context.Context, command string, body any) (_ json.RawMessage, err error) {
	defer try.To(&err)
	m.last++
	message := try.Get(json.Marshal([]any{0, m.last, command, body}))
	end, ok := ctx.Deadline()
	if !ok {
		end = time.Now().Add(patience)
	}
	try.Do(m.link.SetDeadline(end))
	try.Get(fmt.Fprintf(m.link, "%d:%s", len(message), message))
	for {
		message = try.Get(m.next())
		var answer [4]json.RawMessage // 1, number, error, value
		try.Of(fmt.Sprintf("%.200s", message), json.Unmarshal(message, &answer))
		if string(answer[1]) != strconv.Itoa(m.last) {
			continue // of a command that was given up
		}
		if string(answer[2]) != "null" {
			return nil, fmt.Errorf("%.2000s", answer[2])
		}
		var value struct{ Value json.RawMessage }
		if err := json.Unmarshal(answer[3], &value); err == nil && value.Value != nil {
			return value.Value, nil
		}
		return answer[3], nil
	}
}
