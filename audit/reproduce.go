package audit

import "strings"

// Argument is one setting, by the name that the command line and the page's address
// use for it; that of a parameter is p.NAME.
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

// FragmentWord percent-encodes what does not stand for itself in the value of
// an address's fragment.
func FragmentWord(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}
