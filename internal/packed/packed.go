// Package packed is the form of values in an address, as site/page/packed.js: form, check and deflated JSON.
package packed

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
)

const (
	form = 1
	most = 1 << 20 // bytes of JSON that a link may unfold to
)

// Code is code with its settings: the texts of the page's door by their keys.
type Code struct {
	Code     string            `json:"code"`
	Language string            `json:"language"` // javascript or python
	Settings map[string]string `json:"settings"`
	Result   json.RawMessage   `json:"result,omitempty"` // a pair.Glimpse
	Width    int               `json:"width,omitempty"`  // numbers of an output
}

// Pack writes a value.
func Pack(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	var deflated bytes.Buffer
	w, _ := flate.NewWriter(&deflated, flate.BestCompression)
	w.Write(text)
	w.Close()
	data := base64.RawURLEncoding.EncodeToString(deflated.Bytes())
	return fmt.Sprintf("%d.%s.%s", form, check(data), data), nil
}

// Unpack reads what [Pack] or the page wrote. Its errors are for whoever has the link.
func Unpack(text string, value any) error {
	number, rest, _ := strings.Cut(text, ".")
	sum, data, whole := strings.Cut(rest, ".")
	switch n, err := strconv.Atoi(number); {
	case err != nil || n < 1:
		return errors.New("the link holds nothing that can be read: copy it again, from its first character to its last")
	case n > form:
		return fmt.Errorf("the link was made by a newer version of dpscope: it has form %d, must be %d", n, form)
	case !whole || check(data) != sum:
		return errors.New("the link is incomplete or was changed: copy it again, from its first character to its last")
	}
	deflated, err := base64.RawURLEncoding.DecodeString(data)
	var unfolded []byte
	if err == nil {
		unfolded, err = io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(deflated)), most+1))
	}
	if err != nil {
		return fmt.Errorf("the link cannot be unpacked: %w", err)
	}
	if len(unfolded) > most {
		return fmt.Errorf("the link unfolds to more than %d bytes: ask its sender for a file instead", most)
	}
	if err := json.Unmarshal(unfolded, value); err != nil {
		return fmt.Errorf("the link holds something else than what was asked for: %w", err)
	}
	return nil
}

// check is FNV-1a of a text of ASCII, in base 36.
func check(text string) string {
	sum := fnv.New32a()
	io.WriteString(sum, text)
	return strconv.FormatUint(uint64(sum.Sum32()), 36)
}
