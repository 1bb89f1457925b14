package redact

import "io"

// Writer takes a stream in pieces and passes it on without the secrets. It holds back what may be the beginning of a
// form, which is shorter than the longest form, and passes on everything else at once. It is for one goroutine.
type Writer struct {
	a      *automaton
	to     io.Writer
	state  int32
	held   []byte // the stream's last bytes, as many as the state is deep
	spans  []span // of what is held
	within bool   // the last byte that was passed on has its mark already
	clean  []byte // what is passed on in one piece, where marks stand in it
	err    error
}

// Writer gives what passes the stream on to `to`. Close passes on what is held and leaves `to` open.
func (s *Set) Writer(to io.Writer) io.WriteCloser {
	if s == nil {
		return plain{to}
	}
	return &Writer{a: s.a, to: to}
}

// plain passes everything on.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }

// Write implements io.Writer. After an error of the writer behind it, it gives that error and passes nothing on.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.spans, w.state = scan(w.a, w.state, p, w.spans)
	deep := int(w.a.nodes[w.state].depth)
	w.pass(p, len(p)-deep)
	w.keep(p, deep)
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Close passes on what is held.
func (w *Writer) Close() error {
	w.pass(nil, 0)
	w.keep(nil, 0)
	w.state = 0
	return w.err
}

// pass passes on what is held and p up to end, counted from p's first byte: as it stands where there is nothing to take
// out, else in one piece, so that many marks cost who is behind no more than one.
func (w *Writer) pass(p []byte, end int) {
	at := -len(w.held)
	put := w.put
	if len(w.spans) > 0 && w.spans[0].from < end {
		w.clean = w.clean[:0]
		put = func(piece []byte) { w.clean = append(w.clean, piece...) }
		defer func() { w.put(w.clean) }()
	}
	for _, s := range w.spans {
		if s.from >= end {
			break
		}
		if s.from > at {
			w.stretch(put, p, at, s.from)
		}
		if !w.within {
			put([]byte(Mark))
			w.within = true
		}
		at = min(s.to, end)
	}
	w.stretch(put, p, at, end)
}

// stretch puts a stretch as it stands, in at most two pieces.
func (w *Writer) stretch(put func([]byte), p []byte, from, to int) {
	if from >= to {
		return
	}
	w.within = false
	if from < 0 {
		put(w.held[len(w.held)+from : len(w.held)+min(to, 0)])
		from = 0
	}
	if from < to {
		put(p[from:to])
	}
}

func (w *Writer) put(p []byte) {
	if w.err == nil && len(p) > 0 {
		_, w.err = w.to.Write(p)
	}
}

// keep holds the last bytes, and counts what is known of them from the end of p on.
func (w *Writer) keep(p []byte, deep int) {
	if deep > len(p) {
		n := copy(w.held, w.held[len(w.held)+len(p)-deep:])
		w.held = append(w.held[:n], p...)
	} else {
		w.held = append(w.held[:0], p[len(p)-deep:]...)
	}
	rest := w.spans[:0]
	for _, s := range w.spans {
		if s.to -= len(p); s.to > -deep {
			rest = append(rest, span{max(s.from-len(p), -deep), s.to})
		}
	}
	w.spans = rest
}
