package containerctl

import (
	"strings"
	"testing"
)

func TestTranslate(t *testing.T) {
	for _, tc := range []struct{ root, cwd, want string }{
		{"/home/ana/loja", "", "/work"},
		{"/home/ana/loja", "/home/ana/loja", "/work"},
		{"/home/ana/loja", "/home/ana/loja/", "/work"},
		{"/home/ana/loja/", "/home/ana/loja/src", "/work/src"},
		{"/home/ana/loja", "/home/ana/loja/.worktrees/agent", "/work/.worktrees/agent"},
		{"/home/ana/loja", "/home/ana/loja2", "/home/ana/loja2"},
		{"/home/ana/loja", "/home/ana", "/home/ana"},
		{"/home/ana/loja", "/home/ana/loja/../x", "/home/ana/loja/../x"},
		{"/home/ana/loja", "/home/ana//loja/./a", "/work/a"},
		{"/home/ana/loja", "/home/Ana/loja", "/home/Ana/loja"},
		{"/", "/etc", "/work/etc"},
		{`C:\Users\Ana\loja`, `C:\Users\Ana\loja\src\a`, "/work/src/a"},
		{`C:\Users\Ana\loja`, `c:/users/ana/LOJA/Src`, "/work/Src"},
		{`C:\Users\Ana\loja`, `C:\Users\Ana\loja`, "/work"},
		{`C:\Users\Ana\loja`, `C:\Users\Ana\loja2`, `C:\Users\Ana\loja2`},
		{`C:\Users\Ana\loja`, `D:\Users\Ana\loja\x`, `D:\Users\Ana\loja\x`},
		{`C:\Users\Ana\loja`, "", "/work"},
		{`\\server\share\loja`, `\\server\share\loja\a`, "/work/a"},
		{`C:\`, `C:\a`, "/work/a"},
	} {
		if got := Translate(tc.root, tc.cwd); got != tc.want {
			t.Errorf("Translate(%q, %q) = %q, want %q", tc.root, tc.cwd, got, tc.want)
		}
	}
}

func FuzzTranslate(f *testing.F) {
	f.Add("/home/ana/loja", "/home/ana/loja/src")
	f.Add(`C:\a`, `c:/A/b`)
	f.Add(`C:\ſ`, `C:\S\x`)
	f.Fuzz(func(t *testing.T, root, cwd string) {
		got := Translate(root, cwd)
		if got != cwd && got != MountPoint && !strings.HasPrefix(got, MountPoint+"/") {
			t.Errorf("Translate(%q, %q) = %q is neither the mount, nor below it, nor what came", root, cwd, got)
		}
	})
}
