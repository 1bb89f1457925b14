package policy

// maxApart bounds how many texts in backticks, here-documents and arithmetic are read by themselves in one text that
// does not parse.
const maxApart = 1000

// loosely reads a text that does not parse once more, by itself what may be a command each. What is already there is
// not added again, so that a text has no more segments than it runs commands.
func (r *reader) loosely(text string) {
	known := map[string]bool{}
	for _, u := range r.a.units() {
		u.stands.known(known)
	}
	texts := []laterText{{text: text}}
	seen := map[string]bool{text: true}
	for i := 0; i < len(texts) && i <= maxApart; i++ {
		if i > 0 {
			if *r.a.budget -= len(texts[i].text); *r.a.budget < 0 {
				return
			}
			if r.part(texts[i], known) {
				continue
			}
		}
		l := loose{src: texts[i].text, isData: texts[i].data}
		l.read()
		for _, command := range l.commands {
			if !seen[command] {
				seen[command] = true
				r.part(laterText{text: command}, known)
			}
		}
		for _, t := range l.apart {
			if !seen[t.text] {
				seen[t.text] = true
				texts = append(texts, t)
			}
		}
	}
}

// part reads a part of a text that does not parse; it says whether the part does.
func (r *reader) part(t laterText, known map[string]bool) bool {
	from := len(r.a.items)
	text, stmts, whole := r.a.parse(t.text)
	part := &reader{a: r.a, depth: r.depth, top: r.top, src: text}
	part.stmts(stmts, place{loop: -1})
	for i := from; i < len(r.a.items); i++ {
		it := &r.a.items[i]
		if it.unit == nil {
			continue
		}
		twice := it.unit.stands.known(known)
		if twice || t.data && whole && i == from { // the first is the command that does nothing
			*it = item{loop: it.loop}
		}
	}
	return whole
}
