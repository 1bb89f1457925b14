package policy

import (
	"reflect"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// FuzzPlainStatement holds what is read without the library's parser against what that parser makes of it.
func FuzzPlainStatement(f *testing.F) {
	for _, text := range []string{
		"ls", "pnpm test --watch", "  git  -C a/b push ", "if a", "echo if", "time ls", "in a", "let a", "export A", "echo let", "2", "-", ":", ".",
		"a:b,c", "", " ", "a=b", "echo a=b", "do", "done", "coproc a", "function f", "f()", "select a", "declare", "a\n", "a{b,c}", "nameref x", "then",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := plainStatement(text)
		if got == nil {
			return
		}
		var want []*syntax.Stmt
		for s, err := range newParser().StmtsSeq(strings.NewReader(text)) {
			if err != nil {
				t.Fatalf("%q does not parse: %v", text, err)
			}
			want = append(want, s)
		}
		if len(want) != 1 || !reflect.DeepEqual(got, want[0]) {
			t.Errorf("%q is read differently", text)
		}
	})
}

func TestBareWordsNeedNoParser(t *testing.T) {
	for _, text := range []string{"ls", "pnpm test --watch", " git  -C a/b push ", "echo if then"} {
		if plainStatement(text) == nil {
			t.Errorf("%q is read by the parser", text)
		}
	}
	for _, text := range []string{"if", "export A", "ls | cat", "ls 'a'", "a=b", "ls\n", "ls *", "~", "x\\", "é", ""} {
		if plainStatement(text) != nil {
			t.Errorf("%q is taken for bare words", text)
		}
	}
}
