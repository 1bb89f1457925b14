package policy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"brabo.dev/runner/runner/failure"
)

// MaxVectorLine is how long one line of a vector file may be, in bytes.
const MaxVectorLine = 16 << 20

// Proposal is all that a decision looks at.
type Proposal struct {
	Action      Action
	Role        Role
	Autonomy    Autonomy
	Permissions Permissions
	Context     Context
}

// Vector is one line of a vector file, of one of the two shapes of section 18: Decide or Match is set.
type Vector struct {
	ID     string
	Line   int
	Decide *DecideVector
	Match  *MatchVector
}

// DecideVector says what becomes of a proposal.
type DecideVector struct {
	Proposal
	Policy   Verdict
	Rule     Rule
	Needless bool // a question about this command would help nobody
}

// MatchVector says whether a pattern matches a written segment of a command, by section 3 alone.
type MatchVector struct {
	Pattern string
	Command string
	Match   bool
}

// ReadVectors reads a vector file; name only names it in failures. A line that is no vector is
// failure.VectorFileInvalid with line and column. Empty lines are none.
func ReadVectors(name string, r io.Reader) ([]Vector, error) {
	var vectors []Vector
	lines := NewLines(r)
	seen := map[string]int{}
	for {
		text, number, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return vectors, nil
		case err != nil:
			return nil, failure.New(failure.VectorFileInvalid, fmt.Sprintf("%s:%d", name, number)).Because("%v", err).Wrap(err)
		}
		v, p := readVector(text)
		if first, again := seen[v.ID]; p == nil && again {
			p = &problem{0, fmt.Sprintf("the id %q stands in line %d already", v.ID, first), "give each vector an id of its own"}
		}
		if p != nil {
			at := Position{number, (&cursor{data: text}).to(p.offset).Column}
			return nil, failure.New(failure.VectorFileInvalid, name+":"+at.String()).Because("%s", p.cause).Then("%s", p.next)
		}
		v.Line = number
		seen[v.ID] = number
		vectors = append(vectors, v)
	}
}

// ReadProposal reads one line of the shape of decide.jsonl, with or without what it expects, for a decision of its
// own. The id comes back also where the rest is failure.VectorFileInvalid, if it can be read; line names the line.
func ReadProposal(text []byte, line int) (id string, proposal Proposal, err error) {
	v, p := readProposal(text)
	if p != nil {
		at := Position{line, (&cursor{data: text}).to(p.offset).Column}
		return v.ID, Proposal{}, failure.New(failure.VectorFileInvalid, "line "+at.String()).Because("%s", p.cause).Then("%s", p.next)
	}
	return v.ID, v.Decide.Proposal, nil
}

// Lines gives a text's lines one by one, so that the answer to one can be written before the next has come.
type Lines struct {
	r    *bufio.Reader
	line int
}

// NewLines reads from r.
func NewLines(r io.Reader) *Lines { return &Lines{r: bufio.NewReaderSize(r, 64<<10)} }

// ErrLineTooLong is the error of a line longer than MaxVectorLine. The next line can be read all the same.
var ErrLineTooLong = errors.New("the line is longer than 16 MiB")

// Next gives the next line that is not empty, without its end, and its number from 1. After the last it gives io.EOF.
func (l *Lines) Next() (text []byte, number int, err error) {
	for {
		text, err = l.whole()
		if errors.Is(err, io.EOF) && len(text) > 0 {
			err = nil
		}
		if err != nil || len(bytes.Trim(text, jsonBlanks)) > 0 {
			return text, l.line, err
		}
	}
}

func (l *Lines) whole() (text []byte, err error) {
	l.line++
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(text)+len(part) > MaxVectorLine; !long {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, ErrLineTooLong
		}
		return bytes.TrimRight(text, "\r\n"), err
	}
}
