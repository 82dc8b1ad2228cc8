package audit

import (
	"fmt"
	"strings"
)

// ShellWords takes a command line apart as a POSIX shell does: words are separated
// by blanks; quotes and backslashes keep them together. No shell runs, so nothing is
// expanded: what a shell would take for a pipe, a redirection, a variable or a
// second command is refused. Errors name the field. [ShellWord] is the way back.
func ShellWords(field, line string) ([]string, error) {
	fault := func(found, want, remedy string) error {
		return &InputError{Field: field, Found: fmt.Sprintf("%q with %s", line, found), Want: want, Remedy: remedy}
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
		return nil, &InputError{Field: field, Found: fmt.Sprintf("%q", line), Want: "a program and its arguments", Remedy: "for example " + field + " 'python3 mechanism.py'"}
	}
	return words, nil
}
