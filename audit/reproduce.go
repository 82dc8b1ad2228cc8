package audit

import (
	"fmt"
	"strconv"
	"strings"
)

// Argument is one setting, by its name in commands and addresses, p.NAME of a parameter.
type Argument struct {
	Name, Value string
	Alone       bool // a command has it as -name
}

// Changed are the parameters that are not the defaults, in the order of the specs.
func (p Params) Changed(specs []ParamSpec, defaults Params) []Argument {
	var out []Argument
	for _, s := range specs {
		if v := p[s.Name]; v != defaults[s.Name] {
			out = append(out, Argument{Name: "p." + s.Name, Value: v.String()})
		}
	}
	return out
}

// CommandOf is a command with arguments, as a shell takes it.
func CommandOf(command string, args []Argument) string {
	var b strings.Builder
	b.WriteString(command)
	for _, x := range args {
		param, isParam := strings.CutPrefix(x.Name, "p.")
		switch {
		case isParam:
			b.WriteString(" -param " + ShellWord(param+"="+x.Value))
		case x.Alone:
			b.WriteString(" -" + x.Name)
		default:
			b.WriteString(" -" + x.Name + " " + ShellWord(x.Value))
		}
	}
	return b.String()
}

// FragmentOf is the fragment of an address with arguments.
func FragmentOf(args []Argument) string {
	var b strings.Builder
	b.WriteString("#v=1")
	for _, x := range args {
		b.WriteString("&" + FragmentWord(x.Name) + "=" + FragmentWord(x.Value))
	}
	return b.String()
}

// ShellWord quotes what a shell would take apart.
func ShellWord(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-_.=,:+/", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// FragmentWord percent-encodes what does not stand for itself in an address's fragment.
func FragmentWord(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// ShellWords takes a command line apart as a POSIX shell does. What a shell would take for a pipe,
// a redirection, a variable or a second command is refused.
func ShellWords(field, line string) ([]string, error) {
	fault := func(found, want, remedy string) error {
		return Fault(field, fmt.Sprintf("%q with %s", line, found), want, remedy)
	}
	shell := func(c byte) error {
		return fault(fmt.Sprintf("%q outside single quotes", c), "a program and its arguments, because no shell reads them", "quote the character, or run a shell: "+field+` "sh -c '...'"`)
	}
	var words []string
	var word []byte
	inWord := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t':
			if inWord {
				words, word, inWord = append(words, string(word)), nil, false
			}
		case '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, fault("an unclosed single quote", "closed quotes", "")
			}
			word, inWord = append(word, line[i+1:i+1+end]...), true
			i += end + 1
		case '"':
			inWord = true
			for i++; ; i++ {
				if i >= len(line) {
					return nil, fault("an unclosed double quote", "closed quotes", "")
				}
				if line[i] == '"' {
					break
				}
				if line[i] == '$' || line[i] == '`' {
					return nil, shell(line[i])
				}
				if line[i] == '\\' && i+1 < len(line) && strings.IndexByte("$`\"\\", line[i+1]) >= 0 {
					i++
				}
				word = append(word, line[i])
			}
		case '\\':
			if i++; i >= len(line) {
				return nil, fault("a backslash at the end", "a character after it", "")
			}
			word, inWord = append(word, line[i]), true
		case '|', '&', ';', '<', '>', '(', ')', '$', '`', '\n', '\r':
			return nil, shell(c)
		case 0:
			return nil, fault("a NUL byte", "text", "")
		default:
			word, inWord = append(word, c), true
		}
	}
	if inWord {
		words = append(words, string(word))
	}
	if len(words) == 0 {
		return nil, Fault(field, strconv.Quote(line), "a program and its arguments", "for example "+field+" 'python3 mechanism.py'")
	}
	return words, nil
}
