package share

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/dpscope/dpscope/audit"
)

const (
	// MostPicture is the size of the largest picture, in bytes.
	MostPicture   = 512 << 10
	narrowest     = 200 // px, of a picture, either way
	widest        = 2400
	pngSignature  = "\x89PNG\r\n\x1a\n"
	headerLength  = 13
	chunkOverhead = 12
)

// plainChunks are those of a PNG that make its picture. Others hold texts, places and
// times, which nobody asked for, and are left out.
var plainChunks = map[string]bool{"IHDR": true, "PLTE": true, "IDAT": true, "IEND": true, "tRNS": true, "sRGB": true, "gAMA": true, "cHRM": true, "pHYs": true}

// cleaned is a PNG with nothing in it but its picture, or an error: of something that is
// no PNG, is cut off, goes on behind its end, or is too small or large to be a preview.
// Its chunks are checked (PNG, third edition, section 5); its pixels are for the browser
// to decode.
func cleaned(data []byte) ([]byte, error) {
	bad := func(found, want string) error {
		return &audit.InputError{Field: "picture", Found: found, Want: want, Remedy: "upload the PNG that the page makes"}
	}
	if len(data) > MostPicture {
		return nil, bad("larger than 512 KiB", "at most that")
	}
	if !bytes.HasPrefix(data, []byte(pngSignature)) {
		return nil, bad("no PNG", "a PNG")
	}
	out, rest := []byte(pngSignature), data[len(pngSignature):]
	for at := 0; ; at++ {
		if len(rest) < chunkOverhead {
			return nil, bad("cut off", "a whole PNG")
		}
		n := uint64(binary.BigEndian.Uint32(rest))
		if n > uint64(len(rest)-chunkOverhead) {
			return nil, bad("cut off", "a whole PNG")
		}
		chunk, name, body := rest[:chunkOverhead+n], string(rest[4:8]), rest[8:8+n]
		if binary.BigEndian.Uint32(chunk[8+n:]) != crc32.ChecksumIEEE(chunk[4:8+n]) {
			return nil, bad(fmt.Sprintf("damaged in its part %q", name), "a whole PNG")
		}
		rest = rest[chunkOverhead+n:]
		if (at == 0) != (name == "IHDR") {
			return nil, bad(fmt.Sprintf("with %q as its part %d", name, at+1), "a PNG that begins with its size, once")
		}
		if at == 0 {
			if n != headerLength {
				return nil, bad("without its size", "a PNG")
			}
			width, height := binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:])
			if min(width, height) < narrowest || max(width, height) > widest {
				return nil, bad(fmt.Sprintf("%d by %d pixels", width, height), fmt.Sprintf("from %d to %d each way", narrowest, widest))
			}
		}
		if plainChunks[name] {
			out = append(out, chunk...)
		}
		if name == "IEND" {
			break
		}
	}
	if len(rest) > 0 {
		return nil, bad("with something behind its end", "a PNG alone")
	}
	if !bytes.Contains(out, []byte("IDAT")) {
		return nil, bad("without pixels", "a PNG with a picture")
	}
	return out, nil
}
