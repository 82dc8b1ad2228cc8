//go:build !js

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/typescript"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/mechanisms/train"
	"github.com/dpscope/dpscope/wasm/scene"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// The boundary as the scripts' types. Every message is in one of these tables.

const (
	portField = "MessagePort"
	anyReport = "AnyReport"
)

type carries = map[string]string

// others are the messages that are neither: to whom, and what they carry.
var others = []typescript.Message{
	{Name: "Start", Type: "start", Doc: "Page to any worker: its first message. module: compiled once, shared by all workers. role: samples is that of a coordinator which has no task workers and holds the user's samples. worker: of a task worker, from 0. Of the coordinator only: coreSha256 of the module, from build-info.json, goes into reports; hangAfterMs is the silence of a running task after which its worker is replaced, 20 s by default. brought: the user's mechanism, a BroughtRequest, and a port to a worker in the sandbox that runs it. table: of the user's, a TableRequest, and its file's bytes; learners are then over it.",
		Carries: carries{"module": "WebAssembly.Module", "role": `"coordinator" | "task" | "samples"`, "worker": "number", "coreSha256?": "string", "hangAfterMs?": "number", "brought?": "{ json: string; port: MessagePort }", "table?": "{ json: string; text: Uint8Array }"}},
	{Name: "Compile", Type: "compile", Doc: "Page to a worker that is for nothing else: the next bytes of the core, transferred; the last one has none.", Carries: carries{"part?": "Uint8Array"}},
	{Name: "Compiled", Type: "compiled", Doc: "Its one answer: the module, or why there is none. forbidden: the server's policy allows no WebAssembly.", Carries: carries{"module?": "WebAssembly.Module", "reason?": "string", "forbidden?": "boolean"}},
	{Name: "Dead", Type: "dead", Doc: "Any worker to page: its core ended. Nothing more will come from it.", Carries: carries{"reason": "string"}},
	{Name: "Stop", Type: msgStop, Doc: "Page to coordinator: stops what has this id.", Carries: carries{"id": "number"}},
	{Name: "Attach", Type: msgAttach, Doc: "Page to coordinator: a task worker, by a port that is transferred.", Carries: carries{"worker": "number", "port": portField}},
	{Name: "Detach", Type: msgDetach, Doc: "Page to coordinator: it ended a worker and wants to do without it.", Carries: carries{"worker": "number"}},
	{Name: "Lost", Type: msgLost, Doc: "Page to coordinator: a worker died; a fresh one will be attached with the same number.", Carries: carries{"worker": "number", "reason": "string"}},
	{Name: "ReadyMessage", Type: msgReady, Doc: "Coordinator to page, with ReadyValue in json; task worker to page, with its number.", Carries: carries{"json?": "string", "worker?": "number"}},
	{Name: "ProgressMessage", Type: msgProgress, Doc: "Coordinator to page: what Calls says that it tells, ten times a second at most.", Carries: carries{"id": "number", "json": "string"}},
	{Name: "Answer", Type: msgAnswer, Doc: "Coordinator to page: the final answer; json: what Calls says.", Carries: carries{"id": "number", "json": "string"}},
	{Name: "Refused", Type: msgRefused, Doc: "Coordinator to page: the final answer that is an error. json: Refusal.", Carries: carries{"id": "number", "json": "string"}},
	{Name: "Replace", Type: msgReplace, Doc: "Coordinator to page: a worker hangs. The page ends it and attaches a fresh one under its number; no Lost is needed.", Carries: carries{"worker": "number", "reason": "string"}},
	{Name: "Serve", Type: msgServe, Doc: "Page to task worker: the port to the coordinator, transferred.", Carries: carries{"port": portField}},
	{Name: "TaskMessage", Type: msgTask, Doc: "Coordinator to task worker, Go on both sides, as what follows.", Carries: carries{"id": "number", "json": "string"}},
	{Name: "CancelMessage", Type: msgCancel, Doc: "Coordinator to task worker: ends a task.", Carries: carries{"id": "number"}},
	{Name: "RowsMessage", Type: msgRows, Doc: "Task worker to coordinator, after every 16 ms of work.", Carries: carries{"id": "number", "rows": "number"}},
	{Name: "PartMessage", Type: msgPart, Doc: "Task worker to coordinator: a part of a task's result, as it comes.", Carries: carries{"id": "number", "json": "string"}},
	{Name: "DoneMessage", Type: msgDone, Doc: "Task worker to coordinator: a task's result.", Carries: carries{"id": "number", "json": "string"}},
	{Name: "FailedMessage", Type: msgFailed, Doc: "Task worker to coordinator: why a task has no result. json: Refusal.", Carries: carries{"id": "number", "json": "string"}},
}

const protocolHead = `// Code generated by go run ./wasm/worker. DO NOT EDIT.
//
// The boundary between page and core. Every value that Go made crosses as JSON text
// in the field json; Calls says what is in it. id is a number above 0 that
// the page chooses for each call; every call gets exactly one final answer. Some
// calls need the task workers: one of them at a time, a second one is refused.
//
// A worker's life: the page makes new Worker("worker.js"), posts Start to it,
// and, for a task worker, a MessageChannel's ends: one to the coordinator in
// Attach, one to the task worker in Serve. That may follow at once; what comes
// before the core listens is kept. A worker that is Dead, or whose onerror
// fires, is ended by the page: a task worker is reported with Lost and a fresh
// one attached under the same number (within ten seconds it counts as the same
// place in a run); with a dead coordinator all pending requests fail, and the
// page starts all workers anew.

`

func typeFor[T any](m map[reflect.Type]string, name string) { m[reflect.TypeFor[T]()] = name }

// protocol is site/worker/protocol.d.ts. root is the folder of the module.
func protocol(root string) string {
	names, as := map[reflect.Type]string{}, map[reflect.Type]string{}
	typeFor[accounting.Method](names, "AccountMethod")
	typeFor[ready](names, "ReadyValue")
	typeFor[checked](names, "CheckedValue")
	typeFor[pair.Progress](names, "ProgressValue")
	typeFor[reported](names, "ReportedValue")
	typeFor[previewRequest](names, "PreviewRequest")
	typeFor[previewed](names, "PreviewedValue")
	typeFor[verified](names, "VerifiedValue")
	typeFor[accountAnswer](names, "AccountedValue")
	typeFor[accounting.Query](names, "AccountQuery")
	typeFor[reportText](as, "string")
	typeFor[calibrated](names, "CalibratedValue")
	typeFor[train.Preview](names, "TablePreview")
	typeFor[chart.Kind](names, "ChartKind")
	typeFor[recorded.Kind](names, "FileKind")
	typeFor[report.Column](names, "TableColumn")
	typeFor[report.Table](names, "BoundTable")
	typeFor[report.Row](names, "BoundRow")
	typeFor[plot.Picture](names, "PictureValue")
	typeFor[membership.Floats](as, "string") // packed, in base64
	typeFor[pair.Bet](as, "string")
	typeFor[audit.ParamValue](as, "number | string")
	typeFor[report.Method](as, "string") // each kind of audit has its own
	typeFor[plot.Node](as, "SVGNode")
	typeFor[json.RawMessage](as, "unknown")
	typeFor[reportJSON](as, anyReport)

	w := typescript.Writer{Root: root, Main: "wasm/worker", Names: names, As: as,
		Prefixes: map[string]string{"bounds": "Bounds", "core/canary": "Canary", "mechanisms/source": "Canary", "core/membership": "Membership", "core/pair/threshold": "Threshold", "core/scores": "Scores"}}
	var kinds []string
	for _, v := range []any{pair.Report{}, canary.Report{}, scores.Report{}} {
		kinds = append(kinds, w.Type(v))
	}
	for _, v := range []any{ready{}, refusal{}, userRequest{}, tableRequest{}, scene.Course{}} {
		w.Type(v)
	}

	var b strings.Builder
	b.WriteString(protocolHead)
	b.WriteString("/** What a call sends as JSON, tells on its way and answers. */\nexport interface Calls {\n")
	for _, c := range calls {
		var tells []string
		for _, v := range c.tells {
			tells = append(tells, w.Type(v))
		}
		fmt.Fprintf(&b, "  /** %s */\n  %s: { sends: %s; tells: %s; answer: %s };\n", c.doc, c.name, w.Of(c.sends), cmp.Or(strings.Join(tells, " | "), "never"), w.Of(c.gets))
	}
	b.WriteString("}\n\n/** Page to coordinator: a call. files: of the user's, which the core reads where they lie. */\nexport interface Call { type: keyof Calls; id: number; json: string; files?: File[] }\n" +
		"export type ToCoordinator = Call | Stop | Attach | Detach | Lost;\nexport type FromCoordinator = ReadyMessage | ProgressMessage | Answer | Refused | Replace | Dead;\n")
	fmt.Fprintf(&b, "\n/** A report of any kind. */\nexport type %s = %s;\n", anyReport, strings.Join(kinds, " | "))
	b.WriteString("\n/** An element of a picture: its name, attributes and children; or text. */\nexport type SVGNode = string | [name: string, attributes: Record<string, string> | null, ...children: SVGNode[]];\n\n// Messages.\n")
	for _, m := range others {
		b.WriteString("\n" + m.Declaration())
	}
	b.WriteString("\n// Values, as Go declares them.\n\n" + w.Declarations())
	return b.String()
}

// protocolFile has the types of the boundary; scripts are checked by it without a build.
const protocolFile = "site/worker/protocol.d.ts"

func main() {
	if err := os.WriteFile(protocolFile, []byte(protocol(".")), 0o644); err != nil {
		fmt.Fprintf(os.Stderr, "worker: %v; run it in the root of the repository\n", err)
		os.Exit(1)
	}
}
