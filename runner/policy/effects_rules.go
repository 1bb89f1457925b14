package policy

import "strings"

// rule applies what only code can say about a row. It returns the index at which words that are not known cease to
// matter.
func (e *effecter) rule(r *effectRow, v, sub int) int {
	ws := e.ws
	end := len(ws)
	switch r.rule {
	case "sed":
		e.sed()
	case "awk":
		e.awk()
	case "interpreter":
		return e.interpreter()
	case "source":
		if len(ws) > 1 {
			e.all(1)
		}
	case "declares":
		for i := 1; i < end; i++ {
			name, _, ok := strings.Cut(ws[i].front(), "=")
			if !ok {
				continue
			}
			value := ws[i].after(len(name) + 1)
			if !harmless(name, &value) {
				e.all(i)
			}
		}
	case "printf":
		if len(ws) > 1 && strings.HasPrefix(ws[1].front(), "-v") {
			e.add(1, 2)
		}
		return 1
	case "go":
		e.each(v, func(i int, t string) int {
			switch {
			case strings.HasPrefix(t, "-o="):
				return 2
			case strings.HasPrefix(t, "--o="):
				return 3
			case strings.Contains(t, "extld"):
				return len(t)
			}
			return 0
		})
	case "cargo":
		e.each(v, prefixed("-Z"))
	case "pytest":
		e.each(v, func(i int, t string) int {
			if strings.HasPrefix(t, "-c") && len(t) > 2 {
				return 2
			}
			return 0
		})
	case "beyond":
		e.each(v, func(i int, t string) int {
			if !strings.HasPrefix(t, "-") {
				return 0
			}
			_, p, ok := strings.Cut(t, "=")
			if ok && (strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || hasDotDot(p)) {
				return len(t)
			}
			return 0
		})
	case "eslint":
		e.each(sub, prefixed("-o"))
	case "version":
		for i := sub + 1; i < end; i++ {
			e.all(i)
		}
	case "second":
		e.second(r)
	case "date":
		e.date()
	case "jq":
		e.each(v, func(i int, t string) int {
			if strings.Contains(t, `"`) && (strings.Contains(t, "import") || strings.Contains(t, "include")) {
				return len(t)
			}
			return 0
		})
	case "tar":
		if len(ws) > 1 && ws[1].known() && !strings.HasPrefix(ws[1].text, "-") {
			if n := r.option("-"+ws[1].text, true); n > 0 {
				e.add(1, n-1)
			}
		}
	case "gcc":
		e.each(v, func(i int, t string) int {
			for _, p := range []string{"-wrapper", "-fplugin", "-Xclang", "@"} {
				if strings.HasPrefix(t, p) {
					return len(p)
				}
			}
			return 0
		})
	case "rsync":
		e.each(v, func(i int, t string) int {
			if len(t) > 2 && strings.HasPrefix(t, "--") {
				name, _, _ := strings.Cut(t[2:], "=")
				if strings.HasPrefix(name, "delete") || name != "" && strings.HasPrefix("delete", name) {
					return len(t)
				}
			}
			return 0
		})
	case "pager":
		e.each(v, func(i int, t string) int {
			switch {
			case strings.HasPrefix(t, "+"):
				return 1
			case strings.HasPrefix(t, "--lesskey"), len(t) > 2 && strings.HasPrefix("--lesskey", t):
				return len(t)
			}
			return 0
		})
	case "editor":
		e.each(v, func(i int, t string) int {
			if strings.HasPrefix(t, "+") || strings.HasPrefix(t, "-") {
				return len(t)
			}
			return 0
		})
	case "operand":
		e.each(v, func(i int, t string) int {
			if !strings.HasPrefix(t, "-") {
				return len(t)
			}
			return 0
		})
	case "sysctl":
		e.each(v, func(i int, t string) int {
			if n := strings.IndexByte(t, '='); n > 0 && !strings.HasPrefix(t, "-") {
				return len(t)
			}
			return 0
		})
	case "systemctl":
		for i := 1; i < end; i++ {
			if ws[i].known() && strings.HasPrefix(ws[i].text, "-") {
				continue
			}
			switch ws[i].text {
			case "status", "show", "cat", "is-active", "is-enabled", "list-units":
			default:
				e.all(i)
			}
			break
		}
	case "crontab":
		e.each(v, func(i int, t string) int {
			if t != "-l" {
				return len(t)
			}
			return 0
		})
	case "git":
		return e.gitFront()
	case "itself":
		e.all(sub)
	case "config":
		if sub+1 < end && ws[sub+1].known() {
			switch ws[sub+1].text {
			case "--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list":
				return end
			}
		}
		e.all(sub)
	case "api":
		e.api(sub)
	case "gh":
		return e.gh()
	case "curl":
		e.curl()
	case "wget":
		e.wget()
	}
	return end
}

// each calls f with every word behind the verb; f says how many bytes make the effect, 0 for none.
func (e *effecter) each(v int, f func(i int, t string) int) {
	for i := v + 1; i < len(e.ws); i++ {
		if n := f(i, e.ws[i].text); n > 0 {
			e.add(i, n)
		}
	}
}

func prefixed(p string) func(int, string) int {
	return func(_ int, t string) int {
		if strings.HasPrefix(t, p) {
			return len(p)
		}
		return 0
	}
}

// awk: every option but -F and -v, and a program that does more than print.
func (e *effecter) awk() {
	ws := e.ws
	i := 1
	for ; i < len(ws); i++ {
		t := ws[i].front()
		if len(t) < 2 || t[0] != '-' {
			break
		}
		if t == "--" && ws[i].known() {
			i++
			break
		}
		if t[1] != 'F' && t[1] != 'v' {
			e.all(i)
			continue
		}
		if ws[i].known() && len(t) == 2 {
			i++
		}
	}
	// What looks like an option further on is one for some of them.
	if i < len(ws) && (!ws[i].known() || awkEffect(ws[i].text)) {
		e.all(i)
	}
}

// awkProgram is the index of the program, or 0.
func (s *segment) awkProgram() int {
	ws := s.flat
	for i := 1; i < len(ws); i++ {
		t := ws[i].front()
		if len(t) < 2 || t[0] != '-' {
			return i
		}
		switch {
		case t == "--" && ws[i].known():
			if i+1 < len(ws) {
				return i + 1
			}
			return 0
		case t[1] != 'F' && t[1] != 'v':
			if t[1] == 'f' || strings.HasPrefix(t, "--f") {
				return 0 // the program is in a file
			}
		case ws[i].known() && len(t) == 2:
			i++
		}
	}
	return 0
}

// awkEffect: the program runs something, reads or writes a file, or loads one.
func awkEffect(p string) bool {
	for _, s := range []string{"system", "getline", "ARGV", "@"} {
		if strings.Contains(p, s) {
			return true
		}
	}
	if n := strings.IndexByte(p, '{'); n >= 0 && strings.IndexByte(p[n:], '>') >= 0 {
		return true
	}
	return strings.Contains(strings.ReplaceAll(p, "||", ""), "|")
}

// interpreter: options in front of the script; without a script the program comes from elsewhere.
func (e *effecter) interpreter() int {
	ws := e.ws
	name := interpreterBase(e.s.name())
	if len(ws) == 2 && ws[1].known() {
		switch t := ws[1].text; {
		case t == "--version" || t == "-V" || t == "--help" || t == "-h", name == "node" && t == "-v":
			return 1
		}
	}
	some := false
	for i := 1; i < len(ws); i++ {
		w := &ws[i]
		t := w.front()
		if strings.HasPrefix(t, "-") {
			if !(name == "python" && w.known() && (t == "-u" || t == "-B")) {
				e.all(i)
				some = true
			}
			continue
		}
		if w.open() || w.isGlob() && (t == "" || t[0] == '-') {
			e.all(i) // it may be an option, or a script nobody has read
			return i
		}
		if name == "deno" || name == "bun" {
			for _, x := range []string{"eval", "repl", "x"} {
				if w.canBe(x) {
					e.all(i)
				}
			}
		}
		return i + 1
	}
	if !some {
		e.nothing()
	}
	return len(ws)
}

// second: the second operand of uniq and xxd is written; a glob may be two.
func (e *effecter) second(r *effectRow) {
	ws := e.ws
	operands, only := 0, false
	cluster := r.verbs[0] == "uniq"
	for i := 1; i < len(ws); i++ {
		w := &ws[i]
		t := w.front()
		if !only && len(t) > 1 && t[0] == '-' {
			if t == "--" && w.known() {
				only = true
				continue
			}
			if strings.HasPrefix(t, "--") {
				continue
			}
			if at := strings.IndexAny(t[1:], r.values); at >= 0 && (cluster || at == 0) && at+2 == len(t) && w.known() {
				i++ // the next word is its value
			}
			continue
		}
		operands++
		if operands > 1 || w.isGlob() {
			e.all(i)
		}
	}
}

// date: an operand that does not begin with + sets the clock.
func (e *effecter) date() {
	ws := e.ws
	for i := 1; i < len(ws); i++ {
		t := ws[i].front()
		switch {
		case t == "--date" || t == "--reference" || t == "-d" || t == "-r":
			i++
		case len(t) > 1 && t[0] == '-':
			// A cluster that ends in d or r takes the next word, too.
			if t[1] != '-' {
				for k := 1; k < len(t); k++ {
					if t[k] == 'd' || t[k] == 'r' {
						if k == len(t)-1 {
							i++
						}
						break
					}
					if t[k] == 'I' || t[k] == 's' || t[k] == 'f' {
						break
					}
				}
			}
		case !strings.HasPrefix(t, "+"):
			e.all(i)
		}
	}
}
