package manifests

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	run "google.golang.org/api/run/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const examples = "../../docs/examples/scale"

// read reads a manifest into the type of those whom it is for; a field that they do not
// know is an error.
func read(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(examples, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// built is a folder with the program.
func built(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir, "./cmd/dpscope")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "GOWORK=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// place is where shares are drawn: a folder, and what is set there.
type place struct {
	dir, bin string
	env      []string
}

func (p place) run(t *testing.T, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	if cmd.Dir = p.dir; args[0] == "dpscope" {
		cmd.Path, cmd.Err = filepath.Join(p.bin, "dpscope"), nil
	}
	cmd.Env = append(append(append(os.Environ(), "PATH="+p.bin+":"+os.Getenv("PATH")), p.env...), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

var timing = regexp.MustCompile(`(?s)"timing": \{.*?\}`)

func (p place) report(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return timing.ReplaceAll(data, nil)
}

// smaller is a command of a manifest with few outputs, which begins with the name of the
// program.
func smaller(command []string) []string {
	out := append([]string{}, command...)
	for i, a := range out {
		switch a {
		case "-samples":
			out[i+1] = "200000"
		case "-explore":
			out[i+1] = "20000"
		}
	}
	return out
}

// whole is the command of a share without what makes it a share.
func whole(command []string) (out []string) {
	for i := 0; i < len(command); i++ {
		switch command[i] {
		case "-after", "-shards", "-partial":
			i++
		default:
			out = append(out, command[i])
		}
	}
	return out
}

// TestKubernetes reads the Job as batch/v1, and runs what its container runs for every
// index, as the Job would set it.
func TestKubernetes(t *testing.T) {
	var job batch.Job
	read(t, "kubernetes.yaml", &job)
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || *job.Spec.CompletionMode != batch.IndexedCompletion || job.Spec.Template.Spec.RestartPolicy != core.RestartPolicyNever || job.Spec.BackoffLimitPerIndex == nil {
		t.Fatalf("it is %s %s, %v", job.APIVersion, job.Kind, job.Spec)
	}
	c := job.Spec.Template.Spec.Containers[0]
	of := int(*job.Spec.Completions)
	shares(t, c.Command, strconv.Itoa(of), of, func(p place, command []string, i int) {
		for k, a := range command { // as the kubelet replaces variables
			command[k] = strings.ReplaceAll(a, "$(JOB_COMPLETION_INDEX)", strconv.Itoa(i))
		}
		p.run(t, nil, command...)
	})
}

// TestCloudRun reads the job as run.googleapis.com/v1, and runs what its container runs for
// every task.
func TestCloudRun(t *testing.T) {
	var job run.Job
	data, err := os.ReadFile(filepath.Join(examples, "cloud-run.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		t.Fatal(err)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&job); err != nil {
		t.Fatal(err)
	}
	tasks := job.Spec.Template.Spec
	if job.Kind != "Job" || tasks.TaskCount != 64 || tasks.Template.Spec.MaxRetries == 0 {
		t.Fatalf("it is %s of %d tasks", job.Kind, tasks.TaskCount)
	}
	c := tasks.Template.Spec.Containers[0]
	line := strings.Fields(strings.Join(c.Args, " "))
	shares(t, line, "$CLOUD_RUN_TASK_COUNT", int(tasks.TaskCount), func(p place, command []string, i int) {
		env := []string{"CLOUD_RUN_TASK_INDEX=" + strconv.Itoa(i), "CLOUD_RUN_TASK_COUNT=" + strconv.Itoa(int(tasks.TaskCount))}
		p.run(t, env, append(append([]string{}, c.Command...), strings.Join(command, " "))...)
	})
}

// shares draws all shares of a container's command by draw, and holds that they merge to
// the report of one machine. The command says of how many shares they are in the words of.
func shares(t *testing.T, command []string, of string, n int, draw func(p place, command []string, i int)) {
	if !strings.Contains(strings.Join(command, " "), of) {
		t.Fatalf("%q does not say how many shares there are", command)
	}
	p := place{dir: t.TempDir(), bin: built(t)}
	parts := filepath.Join(p.dir, "parts")
	command = smaller(command)
	for i, a := range command {
		command[i] = strings.ReplaceAll(a, "/parts", parts)
	}
	own := whole(command)
	if own[0] == "exec" {
		own = own[1:]
	}
	if err := os.Mkdir(parts, 0o755); err != nil {
		t.Fatal(err)
	}
	p.run(t, nil, append(own[:len(own):len(own)], "-search-only", "-partial", filepath.Join(parts, "search"))...)
	p.run(t, nil, append(own[:len(own):len(own)], "-output", "one.json")...)
	for i := range n {
		draw(p, append([]string{}, command...), i)
	}
	draw(p, append([]string{}, command...), n/2) // a pod that was lost after it was done
	p.run(t, nil, "dpscope", "merge", parts, "-o", "report.json")
	if one, merged := p.report(t, "one.json"), p.report(t, "report.json"); len(one) < 1000 || !bytes.Equal(one, merged) {
		t.Errorf("one machine's report has %d bytes, the merged one %d", len(one), len(merged))
	}
}

// workflow is what of a workflow the example uses.
type workflow struct {
	Name string            `json:"name"`
	On   string            `json:"true"` // what on is in YAML 1.1
	Env  map[string]string `json:"env"`
	Jobs map[string]struct {
		Needs    string `json:"needs"`
		RunsOn   string `json:"runs-on"`
		Strategy struct {
			Matrix map[string][]int `json:"matrix"`
		} `json:"strategy"`
		Steps []struct {
			Uses string            `json:"uses"`
			With map[string]any    `json:"with"`
			Run  string            `json:"run"`
			Env  map[string]string `json:"env"`
		} `json:"steps"`
	} `json:"jobs"`
}

// TestActions runs the steps of the workflow by the shell that GitHub runs them by, with
// artifacts in a folder.
func TestActions(t *testing.T) {
	var w workflow
	read(t, "actions.yml", &w)
	base := t.TempDir()
	bin := built(t)
	var env []string
	for name, value := range w.Env {
		env = append(env, name+"="+strings.Join(smaller(strings.Fields(value)), " "))
	}
	job := func(name string, matrix map[string]int) string {
		p := place{dir: filepath.Join(base, name+strconv.Itoa(matrix["share"])), bin: bin, env: env}
		if err := os.Mkdir(p.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		fill := func(s string) string {
			for k, v := range matrix {
				s = strings.ReplaceAll(s, "${{ matrix."+k+" }}", strconv.Itoa(v))
			}
			if strings.Contains(s, "${{") {
				t.Fatalf("job %s: %q is not known", name, s)
			}
			return s
		}
		text := func(v any) string { s, _ := v.(string); return fill(s) }
		for _, step := range w.Jobs[name].Steps {
			action, _, _ := strings.Cut(step.Uses, "@")
			switch action {
			case "":
				if strings.HasPrefix(step.Run, "go install ") {
					continue // it was built
				}
				var own []string
				for k, v := range step.Env {
					own = append(own, k+"="+fill(v))
				}
				p.run(t, own, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", fill(step.Run))
			case "actions/setup-go":
			case "actions/upload-artifact":
				artifact(t, filepath.Join(p.dir, text(step.With["path"])), filepath.Join(base, "artifact-"+text(step.With["name"]), text(step.With["path"])))
			case "actions/download-artifact":
				names, err := filepath.Glob(filepath.Join(base, "artifact-"+text(step.With["name"])+text(step.With["pattern"]), "*"))
				if err != nil || len(names) == 0 {
					t.Fatalf("job %s: no artifacts for %v: %v", name, step.With, err)
				}
				for _, from := range names {
					artifact(t, from, filepath.Join(p.dir, text(step.With["path"]), filepath.Base(from)))
				}
			default:
				t.Fatalf("job %s uses %s, which this test cannot play", name, step.Uses)
			}
		}
		return p.dir
	}
	if w.Jobs["share"].Needs != "search" || w.Jobs["merge"].Needs != "share" {
		t.Fatal("the jobs do not wait for each other")
	}
	job("search", nil)
	for _, i := range w.Jobs["share"].Strategy.Matrix["share"] {
		job("share", map[string]int{"share": i})
	}
	merged := place{dir: job("merge", nil), bin: bin, env: env}
	merged.run(t, nil, "bash", "-c", "dpscope $AUDIT -output one.json")
	if one, got := merged.report(t, "one.json"), merged.report(t, "report.json"); len(one) < 1000 || !bytes.Equal(one, got) {
		t.Errorf("one machine's report has %d bytes, the merged one %d", len(one), len(got))
	}
}

// artifact copies a file to where a job finds it.
func artifact(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
