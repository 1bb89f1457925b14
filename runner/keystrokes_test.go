package runner

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// take gives all that is there.
func (k *keystrokes) take(t *testing.T) []keystroke {
	t.Helper()
	var all []keystroke
	for len(k.entries) > 0 {
		e, ok := k.next(context.Background())
		if !ok {
			t.Fatal("the queue is closed")
		}
		all = append(all, e)
	}
	return all
}

func TestKeystrokesKeepTheirOrder(t *testing.T) {
	k := newKeystrokes()
	k.input([]byte("a"))
	k.input([]byte("b"))
	k.resize(80, 24)
	k.resize(90, 30)
	k.input([]byte("c"))
	want := []keystroke{{data: []byte("ab")}, {cols: 90, rows: 30}, {data: []byte("c")}}
	if diff := cmp.Diff(want, k.take(t), cmp.AllowUnexported(keystroke{})); diff != "" {
		t.Error(diff)
	}
	if k.held != 0 {
		t.Errorf("%d bytes are held", k.held)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, ok := k.next(ctx); ok {
		t.Error("an entry after the end")
	}
}

func TestKeystrokesThatDoNotFitLackTheirEndAlone(t *testing.T) {
	k := newKeystrokes()
	half := bytes.Repeat([]byte("x"), keystrokesLimit/2-keystrokesCost)
	for i, want := range []struct{ kept, first bool }{{true, false}, {true, false}, {false, true}, {false, false}} {
		if kept, first := k.input(half); kept != want.kept || first != want.first {
			t.Errorf("piece %d: %v, %v", i, kept, first)
		}
	}
	if _, ok := k.next(context.Background()); !ok {
		t.Fatal("nothing is there")
	}
	if kept, _ := k.input([]byte("x")); kept {
		t.Error("a piece from the middle was taken")
	}
	k.take(t)
	if kept, _ := k.input([]byte("x")); !kept {
		t.Error("an empty queue takes nothing")
	}
	if kept, _ := newKeystrokes().input(make([]byte, 2*keystrokesLimit)); !kept {
		t.Error("one message larger than the limit is lost") // the connection's own limit bounds it
	}
}

func TestManySmallKeystrokesAreBounded(t *testing.T) {
	k := newKeystrokes()
	for i := range keystrokesLimit {
		k.resize(i+1, 1)
		k.input([]byte("x"))
	}
	if k.held > keystrokesLimit+keystrokesCost || len(k.entries) > keystrokesLimit/keystrokesCost+1 {
		t.Errorf("%d bytes in %d entries", k.held, len(k.entries))
	}
	full := newKeystrokes()
	full.input(make([]byte, keystrokesLimit-keystrokesCost))
	for i := range 3 {
		full.resize(i+1, 9)
		if kept, _ := full.input([]byte("x")); kept {
			t.Error("more than the limit is taken")
		}
	}
	if all := full.take(t); len(all) != 2 || all[1].cols != 3 {
		t.Errorf("the last size is lost: %d entries", len(all))
	}
}
