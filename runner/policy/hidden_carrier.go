package policy

import "strings"

// parsed is what reading a wrapper's options gave.
type parsed struct {
	next    int // the first word that is no option
	any     bool
	letters string            // options met, by letter
	values  map[string]string // by letter or long name
}

// read reads options from index i on. ok is false where one is not in the table, or a word is not known.
func (o *options) read(ws []word, i int) (p parsed, ok bool) {
	p.values = map[string]string{}
	for ; i < len(ws); i++ {
		w := &ws[i]
		t := w.front()
		if len(t) < 2 || t[0] != '-' {
			break
		}
		if !w.known() || w.isFound() {
			return p, false
		}
		p.any = true
		if t == "--" {
			i++
			break
		}
		take := func() (string, bool) {
			if i+1 >= len(ws) || !ws[i+1].known() {
				return "", false
			}
			i++
			return ws[i].text, true
		}
		if strings.HasPrefix(t, "--") {
			name, value, glued := strings.Cut(t[2:], "=")
			switch {
			case !glued && listed(o.longs, name), listed(o.longGlued, name):
			case listed(o.longValues, name):
				if !glued {
					if value, ok = take(); !ok {
						return p, false
					}
				}
			default:
				return p, false
			}
			p.values[name] = value
			continue
		}
	cluster:
		for k := 1; k < len(t); k++ {
			c := t[k : k+1]
			switch {
			case strings.Contains(o.letters, c):
				p.letters += c
			case strings.Contains(o.values, c):
				value := t[k+1:]
				if value == "" {
					if value, ok = take(); !ok {
						return p, false
					}
				}
				p.letters += c
				p.values[c] = value
				break cluster
			case strings.Contains(o.glued, c):
				p.letters += c
				p.values[c] = t[k+1:]
				break cluster
			default:
				return p, false
			}
		}
	}
	p.next = i
	return p, true
}

func listed(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// carrier reads the wrappers of wrappers.txt.
func (a *analysis) carrier(s *segment, name string, depth int) []item {
	o := theTables().wrappers[name]
	ws := s.flat
	if anyOpaque(ws) {
		s.issue("an output among the words of a wrapper")
	}
	p, ok := o.read(ws, 1)
	if !ok {
		a.unread(s, "options of "+name+" that are not read", depth)
		return nil
	}
	i := p.next
	bare := !p.any
	assignsHarmless := true
	switch name {
	case "env":
		for ; i < len(ws); i++ {
			if ws[i].known() && ws[i].text == "-" {
				bare = false
				continue
			}
			n, ok := envAssign(s, &ws[i])
			if n == nil {
				if !ok {
					a.unread(s, "a word of env that is not known", depth)
					return nil
				}
				break
			}
			assignsHarmless = assignsHarmless && n.harmless()
		}
	case "timeout":
		if i < len(ws) && !ws[i].known() {
			a.unread(s, "a word of timeout that is not known", depth)
			return nil
		}
		i++
	case "command":
		if strings.ContainsAny(p.letters, "vV") {
			return nil
		}
	case "xargs":
		return a.xargs(s, &p, depth)
	}
	if i >= len(ws) {
		return nil
	}
	s.through = o.through && (!o.bare || bare) && assignsHarmless && s.words[0].plain() && s.words[0].text == name
	for k := range s.assigns {
		s.through = s.through && s.assigns[k].harmless()
	}
	return a.carry(s, i, ws[i:], depth)
}

// envAssign reads NAME=value among the words of env; nil where w is none, and ok false where it can't be told.
func envAssign(s *segment, w *word) (as *assign, ok bool) {
	name, _, isAssign := strings.Cut(w.front(), "=")
	if !isAssign || name == "" {
		return nil, w.known() || w.open() && !strings.Contains(w.text, "=") && w.front() == ""
	}
	if w.isOpaque() || w.loose || w.isGlob() {
		return nil, false
	}
	as = &assign{name: name, plain: true, value: w.after(len(name) + 1)}
	if steersWith(name, &as.value) {
		s.issue("a name that decides what a verb means")
	}
	return as, true
}

// xargs carries its words and an open tail, or, with a replacement, no tail but words that it completes.
func (a *analysis) xargs(s *segment, p *parsed, depth int) []item {
	words := append([]word{}, s.flat[min(p.next, len(s.flat)):]...)
	if len(words) == 0 {
		words = []word{literal("echo")}
	}
	replace, with := "", false
	if v, ok := p.values["I"]; ok {
		replace, with = v, true
	}
	for _, n := range []string{"i", "replace"} {
		if v, ok := p.values[n]; ok {
			replace, with = v, true
			if v == "" {
				replace = "{}"
			}
		}
	}
	if with {
		for i := range words {
			words[i] = words[i].replaced(replace, piece{kind: opaque, text: replace, many: true})
		}
	} else {
		words = append(words, word{text: "…", tail: true, loose: true})
	}
	out := a.carry(s, p.next, words, depth)
	carriedByInput(s, &words[0])
	return out
}

// carriedByInput: xargs and find are resolved if what they carry is known and no wrapper.
func carriedByInput(s *segment, verb *word) {
	if !verb.known() || verb.isFound() || isWrapper(lastPart(verb.text)) {
		s.issue("a wrapper that gets its words from elsewhere carries another")
	}
}

// replaced puts p in the place of every occurrence of a text in the fixed parts of w.
func (w word) replaced(text string, p piece) word {
	if text == "" || !strings.Contains(w.text, text) {
		return w
	}
	var out []piece
	for _, q := range w.pieces {
		for q.kind == fixed {
			n := strings.Index(q.text, text)
			if n < 0 {
				break
			}
			if n > 0 {
				head := q
				head.text = q.text[:n]
				out = append(out, head)
			}
			out = append(out, p)
			q.text = q.text[n+len(text):]
		}
		if q.text != "" || q.kind != fixed {
			out = append(out, q)
		}
	}
	r := makeWord(out)
	r.outside = w.outside
	return r
}
