package redact

import "slices"

// largestWindow bounds the window, which grows with the shortest form: beyond it there is little left to gain.
const largestWindow = 32

// automaton finds all occurrences of a set of forms in linear time, by Aho and Corasick's construction. Its state
// between two pieces of a text is one number, which also tells how much of the text's end may be the beginning of a
// form; no library at hand gives that away. In its root state it passes over text as Wu and Manber do.
type automaton struct {
	nodes []node // the first is the root
	root  [256]int32
	// window is what is looked at to pass over text in which no form begins, in bytes; every form is at least as long.
	window int
	// skip says, for the last two bytes of a window, how far the next window is in which a form may begin; zero: perhaps
	// in this one.
	skip [1 << 16]uint8
}

// node is a beginning of a form. Zero in child, sibling and fail is none, or the root.
type node struct {
	child, sibling int32
	fail           int32 // the longest other beginning that ends this one and goes on
	depth          int32 // its length
	match          int32 // length of the longest form that ends here; zero: none does
	label          byte  // its last byte
}

func newAutomaton(forms map[string]bool) *automaton {
	a := &automaton{nodes: make([]node, 1), window: largestWindow}
	for form := range forms {
		a.window = min(a.window, len(form))
	}
	for i := range a.skip {
		a.skip[i] = uint8(a.window - 1)
	}
	for form := range forms {
		a.insert(form)
		for end := 1; end < a.window; end++ {
			pair := int(form[end-1])<<8 | int(form[end])
			a.skip[pair] = min(a.skip[pair], uint8(a.window-1-end))
		}
	}
	a.link()
	return a
}

func (a *automaton) insert(form string) {
	at := int32(0)
	for i := range len(form) {
		next := a.child(at, form[i])
		if next == 0 {
			next = int32(len(a.nodes))
			a.nodes = append(a.nodes, node{sibling: a.nodes[at].child, depth: a.nodes[at].depth + 1, label: form[i]})
			a.nodes[at].child = next
			if at == 0 {
				a.root[form[i]] = next
			}
		}
		at = next
	}
	a.nodes[at].match = a.nodes[at].depth
}

// link fills in fail and match, the shorter beginnings first.
func (a *automaton) link() {
	order := slices.DeleteFunc(slices.Clone(a.root[:]), func(n int32) bool { return n == 0 })
	for i := 0; i < len(order); i++ {
		at := order[i]
		for c := a.nodes[at].child; c != 0; c = a.nodes[c].sibling {
			fail := a.step(a.nodes[at].fail, a.nodes[c].label)
			if a.nodes[c].match == 0 {
				a.nodes[c].match = a.nodes[fail].match
			}
			if a.nodes[fail].child == 0 { // nothing goes on from there
				fail = a.nodes[fail].fail
			}
			a.nodes[c].fail = fail
			order = append(order, c)
		}
	}
}

func (a *automaton) child(at int32, b byte) int32 {
	if at == 0 {
		return a.root[b]
	}
	c := a.nodes[at].child
	for c != 0 && a.nodes[c].label != b {
		c = a.nodes[c].sibling
	}
	return c
}

// step is the state after one more byte.
func (a *automaton) step(at int32, b byte) int32 {
	for {
		if next := a.child(at, b); next != 0 || at == 0 {
			return next
		}
		at = a.nodes[at].fail
	}
}

// span is a run of bytes that belong to forms. Before the first byte of a piece positions are negative.
type span struct{ from, to int }

// scan reads on from a state and adds what it finds to spans, which stay in order and apart from one another. It returns
// them and the state at the end.
func scan[T string | []byte](a *automaton, state int32, p T, spans []span) ([]span, int32) {
	for i := 0; i < len(p); {
		if state == 0 {
			last := i + a.window - 1
			for last < len(p) {
				skip := a.skip[int(p[last-1])<<8|int(p[last])]
				if skip == 0 {
					break
				}
				last += int(skip)
			}
			i = last - a.window + 1
		}
		state = a.step(state, p[i])
		i++
		if match := int(a.nodes[state].match); match > 0 {
			spans = join(spans, span{i - match, i})
		}
		if a.nodes[state].child == 0 {
			state = a.nodes[state].fail
		}
	}
	return spans, state
}

// join adds a span that ends behind all others.
func join(spans []span, s span) []span {
	n := len(spans)
	for n > 0 && spans[n-1].to >= s.from {
		s.from = min(s.from, spans[n-1].from)
		n--
	}
	return append(spans[:n], s)
}
