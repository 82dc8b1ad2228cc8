package pages

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
)

// linkForm is the form of links that [linked.pack] writes.
const linkForm = 1

// linked is code as a link holds it: with the texts of the page's form by their keys.
type linked struct {
	Code     string            `json:"code"`
	Language string            `json:"language"` // javascript or python
	Settings map[string]string `json:"settings"`
}

// pack is the text of a link that the page reads (site/page/packed.js): form, check and
// deflated JSON, with dots between, in the letters that an address takes as they are.
func (l linked) pack() (string, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	var deflated bytes.Buffer
	w, err := flate.NewWriter(&deflated, flate.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err = w.Write(text); err == nil {
		err = w.Close()
	}
	data := base64.RawURLEncoding.EncodeToString(deflated.Bytes())
	sum := fnv.New32a()
	sum.Write([]byte(data))
	return fmt.Sprintf("%d.%s.%s", linkForm, strconv.FormatUint(uint64(sum.Sum32()), 36), data), err
}
