package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/dpscope/dpscope/audit"
)

// stream of bytes from a seed, for keys.
func seeded(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

func keys(t *testing.T, seed byte) (signer, verifier string) {
	t.Helper()
	signer, verifier, err := note.GenerateKey(seeded(seed), "log.example")
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

func clock() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) }

// memory keeps records without a file, until it fails.
type memory struct {
	all  []byte
	fail bool
}

func (m *memory) Read() ([]byte, error) { return m.all, nil }
func (m *memory) Append(r []byte) error {
	if m.fail {
		return errors.New("no space")
	}
	m.all = append(m.all, r...)
	return nil
}

// slowRoot is the root of RFC 9162, section 2.1.1, by its recursion.
func slowRoot(leaves [][]byte) tlog.Hash {
	if len(leaves) == 1 {
		return sha256.Sum256(append([]byte{0}, leaves[0]...))
	}
	k := 1
	for 2*k < len(leaves) {
		k *= 2
	}
	left, right := slowRoot(leaves[:k]), slowRoot(leaves[k:])
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
}

func commitmentOf(i int) string {
	sum := sha256.Sum256(fmt.Append(nil, i))
	return hex.EncodeToString(sum[:])
}

// TestLog: roots are those of the RFC, every entry is proven under every later head, and
// every head grows from every earlier one; a proof of anything else is refused.
func TestLog(t *testing.T) {
	signer, key := keys(t, 1)
	m := &memory{}
	l, err := Open(m, signer, clock)
	if err != nil {
		t.Fatal(err)
	}
	const n = 21
	heads := make([]Head, n+1)
	var leaves [][]byte
	for i := range n {
		p, err := l.Add(commitmentOf(i))
		if err != nil || p.Index != int64(i) {
			t.Fatal(p, err)
		}
		leaves = append(leaves, m.all[i*RecordBytes:(i+1)*RecordBytes])
		h, err := p.Check(key)
		if err != nil || h.Size != int64(i+1) || h.Root != slowRoot(leaves) {
			t.Fatalf("%+v, %v: the root of %d is %v", h, err, i+1, slowRoot(leaves))
		}
		heads[i+1] = h
		for j := range i + 1 {
			again, err := l.Add(commitmentOf(j))
			if err != nil || again.Index != int64(j) {
				t.Fatal(again, err)
			}
			if _, err := again.Check(key); err != nil {
				t.Fatal(err)
			}
			again.Index = int64((j + 1) % (i + 1))
			if _, err := again.Check(key); (err == nil) != (i == 0) {
				t.Fatalf("entry %d proves to be entry %d of %d: %v", j, again.Index, i+1, err)
			}
		}
	}
	for from := int64(1); from <= n; from++ {
		for to := from; to <= n; to++ {
			proof, err := l.Growth(from, to)
			if err != nil {
				t.Fatal(err)
			}
			if err := CheckGrowth(heads[from], heads[to], proof); err != nil {
				t.Fatal(err)
			}
			other := heads[from]
			other.Root[3] ^= 1
			if CheckGrowth(other, heads[to], proof) == nil || from < to && CheckGrowth(heads[to], heads[from], proof) == nil {
				t.Fatalf("a log that was changed, or that went back to %d, is believed", from)
			}
		}
	}
	// It goes on from what was kept.
	again, err := Open(m, signer, clock)
	if err != nil {
		t.Fatal(err)
	}
	head, size, err := again.Head()
	if err != nil || size != n || head != heads[n].Signed {
		t.Fatal(head, size, err)
	}
	m.fail = true
	if _, err := again.Add(commitmentOf(n)); err == nil {
		t.Error("what was not kept is acknowledged")
	}
	m.fail = false
	if _, err := again.Add(commitmentOf(n)); !errors.Is(err, errLog) {
		t.Error("a log that may be damaged goes on: ", err)
	}
	for _, bad := range []string{"", "ab", strings.Repeat("g", 64), strings.Repeat("A", 64)} {
		if _, err := l.Add(bad); err == nil {
			t.Errorf("%q was registered", bad)
		}
	}
}

func example(t *testing.T) (r Receipt, report []byte, key string) {
	t.Helper()
	report = []byte(`{"kind":"pair","plan":{"version":2,"mechanism":"svt4","claim":{"kind":"pure","epsilon":1.0},"seed":42,"samples":20000},"inputs":{"brought":{"sha256":"` + strings.Repeat("0a", 32) + `"}},"verdict":"violation"}`)
	subjects, err := SubjectsOf(report)
	if err != nil {
		t.Fatal(err)
	}
	salt := []byte("sixteen bytes ok")
	sum, err := Commit(subjects, salt)
	if err != nil {
		t.Fatal(err)
	}
	signer, key := keys(t, 1)
	l, err := Open(&memory{}, signer, clock)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 11 {
		if _, err := l.Add(commitmentOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := l.Add(sum)
	if err != nil {
		t.Fatal(err)
	}
	return Receipt{Schema, key, hex.EncodeToString(salt), subjects, p}, report, key
}

// TestReceipt: a receipt holds for the report of its plan, and not for another one; one
// of another log, or another key, does not hold.
func TestReceipt(t *testing.T) {
	r, report, key := example(t)
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	h, err := back.Check(report, key)
	if err != nil || h.Size != 12 || back.Index != 11 || back.Entry.Time != "2026-01-31T12:00:00Z" {
		t.Fatal(h, err)
	}
	for what, change := range map[string][2]string{
		"seed": {`"seed":42`, `"seed":43`}, "claim": {`"epsilon":1.0`, `"epsilon":2`}, "SHA-256 of code or files": {"0a", "0b"},
		"kind": {`"kind":"pair"`, `"kind":"one-run"`}, "plan’s trials": {`"seed"`, `"trials":1,"seed"`},
	} {
		other := strings.Replace(string(report), change[0], change[1], 1)
		var in *audit.InputError
		if _, err := back.Check([]byte(other), key); !errors.As(err, &in) || !strings.Contains(in.Field, what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := back.Check(report, strings.Replace(key, "log.example", "log.other", 1)); err == nil {
		t.Error("the key of another log opens it")
	}
	_, stranger := keys(t, 2)
	if _, err := back.Check(report, stranger); err == nil {
		t.Error("another key opens it")
	}
}

// TestMutations: of a thousand changes of a receipt's text, each is found, or changes
// nothing that it says.
func TestMutations(t *testing.T) {
	r, report, key := example(t)
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(seeded(7))
	tried := 0
	for tried < 1000 {
		b := bytes.Clone(text)
		at := random.IntN(len(b))
		b[at] = byte(32 + random.IntN(95))
		if b[at] == text[at] {
			continue
		}
		tried++
		back, err := Parse(b)
		if err == nil {
			_, err = back.Check(report, key)
		}
		if err == nil && !equal(back, r) {
			t.Errorf("byte %d, %q for %q, is not found: %s", at, b[at], text[at], b[max(0, at-20):min(len(b), at+20)])
		}
	}
}

// equal compares what receipts say: a signed head may differ in bits of base64 that no
// byte has.
func equal(a, b Receipt) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	x, _ = canonical(x)
	y, _ = canonical(y)
	if bytes.Equal(x, y) {
		return true
	}
	sig := func(head string) string {
		_, last, _ := strings.Cut(head, "— ")
		_, code, _ := strings.Cut(strings.TrimSuffix(last, "\n"), " ")
		raw, err := base64.StdEncoding.DecodeString(code)
		if err != nil {
			return head
		}
		return string(raw)
	}
	if sig(a.Head) == sig(b.Head) {
		a.Head = b.Head
	}
	x, _ = json.Marshal(a)
	x, _ = canonical(x)
	return bytes.Equal(x, y)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"schema":"dpscope-receipt-v1","head":"x","index":-1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := Parse(text); err == nil {
			if _, err := r.Check([]byte(`{"kind":"pair","plan":{}}`), ""); err == nil {
				t.Errorf("%s holds", text)
			}
		}
	})
}
