package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/gallery"
	"github.com/dpscope/dpscope/internal/cli"
)

// galleryCommand audits published libraries at pinned commits and prints a table.
func galleryCommand(args []string, stdout, stderr io.Writer) int {
	s := cli.NewFlags("dpscope gallery", stderr)
	only := s.String("only", "", "run only the entries whose `names` contain this")
	dir := s.String("dir", "", "`folder` of the libraries' code; default: dpscope/gallery in the user's cache")
	fetch := s.Bool("fetch", false, "fetch with git what is not in -dir")
	mirror := s.String("mirror", "https://github.com", "where -fetch finds repositories as owner/name; an address or a folder")
	python := s.String("python", "python3", "Python that runs the libraries")
	output := s.String("output", "", "write the results as JSON to this `file`; those that it holds of entries that do not run are kept")
	if code, ok := s.Parse(args, 0); !ok {
		return code
	}
	contents, err := gallery.Catalogue()
	if err != nil {
		return fail(stderr, err)
	}
	entries := slices.DeleteFunc(slices.Clone(contents.Entries), func(e gallery.Entry) bool { return !strings.Contains(e.Name, *only) })
	if len(entries) == 0 {
		var names []string
		for _, e := range contents.Entries {
			names = append(names, e.Name)
		}
		return fail(stderr, audit.UnknownName("entry of the gallery", *only, names))
	}
	if *dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fail(stderr, &audit.InputError{Field: "dir", Found: "no folder for caches", Want: "a folder", Remedy: "Name one with -dir"})
		}
		*dir = filepath.Join(cache, "dpscope", "gallery")
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return fail(stderr, err)
	}
	if err := os.RemoveAll(filepath.Join(*dir, "adapter")); err != nil { // of an older release
		return fail(stderr, err)
	}
	if err := os.CopyFS(*dir, gallery.Adapter); err != nil {
		return fail(stderr, err)
	}
	adapter := filepath.Join(*dir, "adapter", "main.py")
	g := cli.Generator()
	done := gallery.Run{Version: g.Version, Machine: fmt.Sprintf("%s/%s, %d processors", g.GoOS, g.GoArch, runtime.GOMAXPROCS(0))}
	code := cli.ExitOK
	for _, e := range entries {
		r := galleryEntry(e, contents.Libraries, *dir, adapter, *python, *mirror, *fetch)
		done.Results = append(done.Results, r)
		fmt.Fprintln(stdout, gallery.Line(e, r))
		if !gallery.Right(e, r) {
			code = cli.ExitViolation
		}
	}
	fmt.Fprintf(stdout, "All %d audits together flag a mechanism that keeps its claim with probability at most %.2g %%.\n", len(entries), 100*gallery.Beta*float64(len(entries)))
	if *output != "" {
		var kept gallery.Run
		text, err := os.ReadFile(*output)
		if err == nil {
			err = json.Unmarshal(text, &kept)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fail(stderr, &audit.InputError{Field: "output", Found: *output + ", which cannot be read: " + err.Error(), Want: "a file of results, or a new one", Remedy: "Name another file"})
		}
		if err := os.WriteFile(*output, galleryJSON(gallery.Merge(contents, kept, done)), 0o644); err != nil {
			return fail(stderr, err)
		}
	}
	return code
}

// galleryJSON is a run, a line each result, as it is kept with the source.
func galleryJSON(run gallery.Run) []byte {
	var b bytes.Buffer
	head, _ := json.Marshal(run.Version)
	machine, _ := json.Marshal(run.Machine)
	fmt.Fprintf(&b, "{\n  \"version\": %s,\n  \"machine\": %s,\n  \"results\": [\n", head, machine)
	for i, r := range run.Results {
		line, _ := json.Marshal(r)
		b.WriteString("    ")
		b.Write(line)
		if i < len(run.Results)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("  ]\n}\n")
	return b.Bytes()
}

func galleryEntry(e gallery.Entry, libraries map[string]gallery.Library, dir, adapter, python, mirror string, fetch bool) gallery.Result {
	r := gallery.Result{Name: e.Name, Verdict: "error"}
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	words := []string{quoted(python), quoted(adapter), e.Case, fmt.Sprint(e.Epsilon)}
	for _, key := range append([]string{e.Library}, libraries[e.Library].With...) {
		l := libraries[key]
		folder := filepath.Join(dir, strings.ReplaceAll(l.Repository, "/", "+")+"@"+l.Commit)
		if _, err := os.Stat(folder); err != nil {
			if !fetch {
				r.Error = "its code is not in " + folder + "; -fetch gets it"
				return r
			}
			if err := galleryFetch(l, folder, mirror); err != nil {
				r.Error = err.Error()
				return r
			}
		}
		words = append(words, quoted(folder))
	}
	command := strings.Join(words, " ")
	var stdout, stderr bytes.Buffer
	start, worked := time.Now(), processorSeconds()
	code := auditCommand(e.Arguments(command), strings.NewReader(""), &stdout, &stderr)
	r.Seconds = float64(time.Since(start).Milliseconds()/100) / 10
	r.Processor = math.Floor(10*(processorSeconds()-worked)) / 10
	if code == cli.ExitUsage {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		r.Error = lines[len(lines)-1]
		return r
	}
	var report struct {
		Verdict     string
		LowerBound  float64
		Termination struct{ Outputs int }
	}
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		r.Error = err.Error()
		return r
	}
	r.Verdict, r.Bound, r.Outputs = report.Verdict, report.LowerBound, report.Termination.Outputs
	return r
}

// galleryFetch lays out a library's paths at its commit. Only that commit is fetched.
func galleryFetch(l gallery.Library, folder, mirror string) error {
	repository := folder + ".git"
	defer os.RemoveAll(repository)
	git := func(args ...string) ([]byte, error) {
		out, err := exec.Command("git", append([]string{"-C", repository}, args...)...).Output()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
		}
		return out, err
	}
	if err := os.MkdirAll(repository, 0o755); err != nil {
		return err
	}
	if _, err := git("init", "-q", "--bare"); err != nil {
		return err
	}
	source := strings.TrimSuffix(mirror, "/") + "/" + l.Repository
	if _, err := git("fetch", "-q", "--depth", "1", source, l.Commit); err != nil {
		return err
	}
	text, err := git(append([]string{"archive", "--format=tar", l.Commit}, l.Paths...)...)
	if err != nil {
		return err
	}
	part := folder + ".part"
	defer os.RemoveAll(part)
	for files := tar.NewReader(bytes.NewReader(text)); ; {
		h, err := files.Next()
		if err == io.EOF {
			return os.Rename(part, folder)
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("%s holds the path %q, outside its folder", l.Repository, h.Name)
		}
		to := filepath.Join(part, h.Name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		content, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			return err
		}
	}
}
