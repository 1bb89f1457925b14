//go:build unix

package exec

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"
)

// late is a filter that passes everything on in capitals, and only when it is closed.
type late struct {
	to   io.Writer
	held bytes.Buffer
}

func (l *late) Write(p []byte) (int, error) { return l.held.Write(p) }

func (l *late) Close() error {
	_, err := l.to.Write(bytes.ToUpper(l.held.Bytes()))
	return err
}

// Runs real bash.
func TestFilterStandsBeforeAllThatIsKeptAndShown(t *testing.T) {
	for name, text := range map[string]string{"by itself": "seq 600; printf end", "held open": "seq 600; printf end; sleep 300 & disown"} {
		t.Run(name, func(t *testing.T) {
			c := spooling(t, text, 1<<20)
			var shown bytes.Buffer
			c.Observe = func(p []byte) { shown.Write(p) }
			c.Filter = func(to io.Writer) io.WriteCloser { return &late{to: to} }
			res := Run(context.Background(), c)
			want := seq(600) + "END"
			if res.Failure != nil || res.Total != int64(len(want)) || !bytes.HasSuffix([]byte(res.Output), []byte("600\nEND")) {
				t.Errorf("%+v", res)
			}
			if got, err := os.ReadFile(res.Spool); err != nil || string(got) != want {
				t.Errorf("%d bytes are kept, %v", len(got), err)
			}
			if shown.String() != want {
				t.Errorf("%d bytes were shown", shown.Len())
			}
		})
	}
}
