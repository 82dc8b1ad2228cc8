package intake

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
)

// Files in a zip file (APPNOTE 6.3), as far as arrays need them: archive/zip brings
// a compressor and calendars along, 40 KB of the WebAssembly core.

// zipEntry is a file in a zip file. Its sizes are what the zip file says.
type zipEntry struct {
	name         string
	method       uint16
	sum          uint32
	packed, size uint64
	at           uint64 // of its own head
	zip          []byte
}

// Ways in which a zip file is damaged.
var (
	errNoZip      = errors.New("not a valid zip file")
	errMethod     = errors.New("packed in a way that is not known here")
	errChecksum   = errors.New("checksum error")
	errOtherSize  = errors.New("not as long as it says")
	errEncryption = errors.New("encrypted")
)

const (
	entryHead     = 46 // bytes of an entry of the directory, before its name
	ownHead       = 30 // bytes before an entry's own name
	directoryTail = 22
)

// zipEntries reads the directory at the end of a zip file.
func zipEntries(zip []byte) ([]*zipEntry, error) {
	end := bytes.LastIndex(zip[max(0, len(zip)-directoryTail-math.MaxUint16):], []byte("PK\x05\x06"))
	if end >= 0 {
		end += max(0, len(zip)-directoryTail-math.MaxUint16)
	}
	if end < 0 || len(zip)-end < directoryTail {
		return nil, errNoZip
	}
	le := binary.LittleEndian
	count, size, at := int(le.Uint16(zip[end+10:])), uint64(le.Uint32(zip[end+12:])), uint64(le.Uint32(zip[end+16:]))
	if at+size > uint64(end) {
		return nil, errNoZip
	}
	var out []*zipEntry
	for d := zip[at : at+size]; len(out) < count; {
		if len(d) < entryHead || string(d[:4]) != "PK\x01\x02" {
			return nil, errNoZip
		}
		name, extra := int(le.Uint16(d[28:])), int(le.Uint16(d[30:]))
		whole := entryHead + name + extra + int(le.Uint16(d[32:]))
		if len(d) < whole {
			return nil, errNoZip
		}
		e := &zipEntry{name: string(d[entryHead : entryHead+name]), method: le.Uint16(d[10:]), sum: le.Uint32(d[16:]),
			packed: uint64(le.Uint32(d[20:])), size: uint64(le.Uint32(d[24:])), at: uint64(le.Uint32(d[42:])), zip: zip}
		if le.Uint16(d[8:])&1 != 0 {
			return nil, errEncryption
		}
		e.long(d[entryHead+name : entryHead+name+extra])
		out = append(out, e)
		d = d[whole:]
	}
	return out, nil
}

// long takes what does not fit into 32 bits from the extra fields.
func (e *zipEntry) long(extra []byte) {
	le := binary.LittleEndian
	for len(extra) >= 4 {
		id, n := le.Uint16(extra), int(le.Uint16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			return
		}
		if field := extra[:n]; id == 1 {
			for _, v := range []*uint64{&e.size, &e.packed, &e.at} {
				if *v == math.MaxUint32 && len(field) >= 8 {
					*v, field = le.Uint64(field), field[8:]
				}
			}
		}
		extra = extra[n:]
	}
}

// open returns the file's content. A read that ends otherwise than by io.EOF found
// it damaged.
func (e *zipEntry) open() (io.Reader, error) {
	size := uint64(len(e.zip))
	if e.at > size || size-e.at < ownHead || string(e.zip[e.at:e.at+4]) != "PK\x03\x04" {
		return nil, errNoZip
	}
	head := e.zip[e.at:]
	from := e.at + ownHead + uint64(binary.LittleEndian.Uint16(head[26:])) + uint64(binary.LittleEndian.Uint16(head[28:]))
	if from > size || e.packed > size-from {
		return nil, errNoZip
	}
	packed := bytes.NewReader(e.zip[from : from+e.packed])
	switch e.method {
	case 0:
		return &zipContent{from: packed, e: e}, nil
	case 8:
		return &zipContent{from: flate.NewReader(packed), e: e}, nil
	}
	return nil, errMethod
}

// zipContent checks what it hands on against size and checksum. Nothing beyond the
// size is handed on.
type zipContent struct {
	from io.Reader
	e    *zipEntry
	sum  uint32
	read uint64
}

func (c *zipContent) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	if c.read+uint64(n) > c.e.size {
		return 0, errOtherSize
	}
	c.sum = crc32.Update(c.sum, crc32.IEEETable, b[:n])
	c.read += uint64(n)
	if err == io.EOF {
		switch {
		case c.read != c.e.size:
			err = errOtherSize
		case c.sum != c.e.sum:
			err = errChecksum
		}
	}
	return n, err
}
