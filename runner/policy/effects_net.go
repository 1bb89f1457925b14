package policy

import "strings"

// curl admits the options listed in section 17a and nothing shortened.
func (e *effecter) curl() {
	ws := e.ws
	valueOK := func(letter byte, w *word, v string) bool {
		if w != nil && !w.known() {
			return false
		}
		switch letter {
		case 'H', 'A', 'e':
			return !strings.HasPrefix(v, "@")
		case 'm':
			return true
		case 'w':
			return !strings.HasPrefix(v, "@") && !strings.Contains(v, "%output")
		case 'o':
			return v == "/dev/null"
		case 'X':
			return v == "GET" || v == "HEAD"
		}
		return false
	}
	next := func(i int, letter byte) bool {
		return i+1 < len(ws) && valueOK(letter, &ws[i+1], ws[i+1].text)
	}
	for i := 1; i < len(ws); i++ {
		w := &ws[i]
		t := w.text
		if len(t) < 2 || t[0] != '-' {
			continue
		}
		if t[1] == '-' {
			i = e.curlLong(i, valueOK)
			continue
		}
	cluster:
		for k := 1; k < len(t); k++ {
			switch c := t[k]; {
			case strings.IndexByte("sSfLiIvkgN46", c) >= 0:
			case strings.IndexByte("HAemwoX", c) >= 0:
				if k+1 < len(t) {
					if !valueOK(c, w, t[k+1:]) {
						e.add(i, k+1)
					}
				} else {
					if !next(i, c) {
						e.add(i, k+1)
					}
					i++
				}
				break cluster
			default:
				e.add(i, k+1)
				break cluster
			}
		}
	}
}

// curlLong reads one long option and gives the index of its last word.
func (e *effecter) curlLong(i int, valueOK func(byte, *word, string) bool) int {
	ws := e.ws
	name, value, glued := strings.Cut(ws[i].text, "=")
	switch name {
	case "--silent", "--show-error", "--fail", "--fail-with-body", "--location", "--include", "--head", "--verbose",
		"--insecure", "--retry-connrefused", "--compressed":
		return i
	case "--max-time", "--connect-timeout", "--retry", "--retry-delay":
		if !glued {
			return i + 1
		}
		return i
	case "--header", "--write-out", "--output", "--request":
		letter := map[string]byte{"--header": 'H', "--write-out": 'w', "--output": 'o', "--request": 'X'}[name]
		if glued {
			if !valueOK(letter, &ws[i], value) {
				e.add(i, len(name))
			}
			return i
		}
		if i+1 >= len(ws) || !valueOK(letter, &ws[i+1], ws[i+1].text) {
			e.add(i, len(name))
		}
		return i + 1
	}
	e.add(i, len(name))
	return i
}

// wget: what writes elsewhere than to standard output, posts, or reads lists.
func (e *effecter) wget() {
	ws := e.ws
	for i := 1; i < len(ws); i++ {
		t := ws[i].text
		if len(t) < 2 || t[0] != '-' {
			continue
		}
		if t[1] == '-' {
			switch name, _, glued := strings.Cut(t, "="); name {
			case "--quiet", "--spider":
			case "--timeout", "--tries":
				if !glued {
					i++
				}
			default:
				e.add(i, len(name))
			}
			continue
		}
		for k := 1; k < len(t); k++ {
			if t[k] == 'O' {
				v, known := t[k+1:], ws[i].known()
				if v == "" && i+1 < len(ws) {
					v, known = ws[i+1].text, ws[i+1].known()
				}
				if !known || v != "-" && v != "/dev/null" {
					e.add(i, k+1)
				}
				if t[k+1:] == "" {
					i++
				}
				break
			}
			if strings.IndexByte("oaPei", t[k]) >= 0 {
				e.add(i, k+1)
				break
			}
		}
	}
}
