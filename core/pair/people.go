package pair

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
)

// People names the two datasets of a pair by the person in whom they differ, called Ada, or by
// the group, where there are several. Under a relation that replaces rows somebody else, called
// Bob, stands in her place.
type People struct {
	// Question is what an audit of the pair asks.
	Question string `json:"question"`
	// Names say which dataset it is, as "with Ada"; Again says so after the other was named.
	Names [2]string `json:"names"`
	Again [2]string `json:"again"`
	// Words say who is in each dataset, and its rows, Ada's in brackets; empty where only the
	// names are known.
	Words [2]string `json:"words"`
}

// PeopleOf names the datasets of a pair, or of outputs that were recorded elsewhere, which has
// none, as recorded calls them.
func PeopleOf(p *audit.Pair, relation audit.Relation, recorded *audit.Recording) People {
	if recorded != nil {
		d := recorded.Datasets
		return People{Question: "Can the outputs tell the datasets apart?", Names: [2]string{"in " + d[0], "in " + d[1]}, Again: [2]string{"in " + d[0], "in " + d[1]}}
	}
	if p == nil || p.First.Len()+p.Second.Len() == 0 { // too large for the link that it came with
		return People{Question: "Can the answer tell A from B?", Names: [2]string{"on dataset A", "on dataset B"}, Again: [2]string{"on A", "on B"}}
	}
	n := [2]int{p.First.Len(), p.Second.Len()}
	rows := [2]string{p.First.Words(), p.Second.Words()}
	if relation != audit.LInfinity { // there all answers may differ
		rows[0], rows[1] = p.Words()
	}
	who, she, her, bob, his, size := "Ada", "Ada", "her", "Bob", "his", 1
	if relation != audit.LInfinity {
		size = max(len(p.First.Alone(p.Second)), len(p.Second.Alone(p.First)))
	}
	if size > 1 {
		who, she, her, bob, his = "the group", fmt.Sprintf("The group of %d", size), "it", "others", "their"
	}
	and := func(name string, others int) string {
		if others == 0 {
			return name + " alone: "
		}
		return fmt.Sprintf("%s and %s: ", name, phrase.Count(others, "other"))
	}
	if relation != audit.LInfinity && n[0] == n[1] {
		its := map[string]string{"her": "her", "it": "its"}[her]
		return People{Question: fmt.Sprintf("Can the answer tell %s from %s?", who, bob), Names: [2]string{"with " + who, "with " + bob}, Again: [2]string{fmt.Sprintf("with %s in %s place", who, his), fmt.Sprintf("with %s in %s place", bob, its)},
			Words: [2]string{and(she, n[0]-size) + rows[0], and(upper(bob), n[0]-size) + rows[1]}}
	}
	in, out := 0, 1
	if n[1] > n[0] || n[0] == n[1] && sum(p.Second) > sum(p.First) {
		in, out = 1, 0
	}
	s := People{Question: fmt.Sprintf("Can the answer tell whether %s is in?", who)}
	s.Names[in], s.Names[out], s.Again[in], s.Again[out] = "with "+who, "without "+who, "with "+her, "without "+her
	switch {
	case relation == audit.LInfinity:
		s.Words[in], s.Words[out] = fmt.Sprintf("%d true answers with Ada: ", n[in]), fmt.Sprintf("%d true answers without Ada: ", n[out])
	case n[out] == 0:
		s.Words[in], s.Words[out], rows[out] = and(she, 0), "nobody", ""
	default:
		s.Words[in], s.Words[out] = and(she, n[in]-size), fmt.Sprintf("%s without %s: ", phrase.Count(n[out], "other"), who)
	}
	for i := range s.Words {
		s.Words[i] += rows[i]
	}
	return s
}

func sum(d audit.Dataset) (all float64) {
	for _, v := range d.Values {
		all += v
	}
	return all
}
