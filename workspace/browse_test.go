package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestListGivesFoldersFirstThenNames(t *testing.T) {
	home := mkdir(t, realTemp(t), "home")
	for _, dir := range []string{"b", ".hidden", "a"} {
		mkdir(t, home, dir)
	}
	for _, file := range []string{"0", "z", "A"} {
		writeFile(t, home, file)
	}
	link(t, "a", home, "a link")
	link(t, "nowhere", home, "loose")
	got, err := List(t.Context(), home+"/", Browse{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	want := Listing{Path: home, Total: 8, Entries: []Entry{
		{".hidden", true}, {"a", true}, {"b", true}, {"0", false}, {"A", false}, {"a link", false}, {"loose", false}, {"z", false}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, err = List(t.Context(), filepath.Join(home, "a link"), Browse{Home: home})
	if want := filepath.Join(home, "a"); err != nil || got.Path != want || got.Entries == nil {
		t.Errorf("through a link: %+v, %v; want %s", got, err, want)
	}
}

func TestListLeavesOutNamesThatNoMessageCarries(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system has no such names")
	}
	home := realTemp(t)
	writeFile(t, home, "good")
	writeFile(t, home, "bad\xff")
	got, err := List(t.Context(), home, Browse{Home: home})
	if err != nil || got.Cut != nil || !slices.Equal(got.Skipped, []string{"bad\xff"}) || !slices.Equal(got.Entries, []Entry{{"good", false}}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestListStaysAtAndBelowTheRoots(t *testing.T) {
	top := realTemp(t)
	home, other := mkdir(t, top, "home"), mkdir(t, top, "home-2")
	mkdir(t, home, "a")
	writeFile(t, home, "file")
	link(t, other, home, "out")
	link(t, home, other, "in")
	link(t, "circle", home, "circle")
	b := Browse{Home: home}
	for path, want := range map[string]failure.Name{
		"":                failure.PathInvalid,
		"a":               failure.PathInvalid,
		".":               failure.PathInvalid,
		home + "/a\x00":   failure.PathInvalid,
		home + "/a/..":    failure.PathInvalid,
		top:               failure.BrowseOutside,
		other:             failure.BrowseOutside,
		home + "/out":     failure.BrowseOutside,
		other + "/in":     failure.BrowseOutside,
		filepath.Dir(top): failure.BrowseOutside,
		home + "/missing": failure.FolderMissing,
		home + "/file":    failure.FolderMissing,
		home + "/circle":  failure.FolderUnreadable,
		home + strings.Repeat("/long-and-longer", 400): failure.FolderUnreadable,
	} {
		got, err := List(t.Context(), path, b)
		failuretest.Produced(t, err, want)
		if got.Entries == nil || len(got.Entries) > 0 {
			t.Errorf("%q: entries %v", path, got.Entries)
		}
	}
	if _, err := List(t.Context(), other, Browse{Home: home, Roots: []string{home, other}}); err != nil {
		t.Error(err)
	}
	if _, err := List(t.Context(), home, Browse{Home: home, Roots: []string{"relative", other}}); !failure.Is(err, failure.BrowseOutside) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := List(ended, home, b); !failure.Is(err, failure.FolderUnreadable) {
		t.Errorf("with no time: %v", err)
	}
}

func TestListOfAHugeFolderIsCutAndSaysSo(t *testing.T) {
	home := realTemp(t)
	const many = 3000
	for i := range many {
		writeFile(t, home, fmt.Sprintf("file %05d", (i*7919)%many))
	}
	mkdir(t, home, "zz")
	got, err := List(t.Context(), home, Browse{Home: home, MaxEntries: 100})
	if err != nil {
		t.Fatal(err)
	}
	failuretest.Produced(t, got.Cut, failure.ListingCut)
	if len(got.Entries) != 100 || got.Total != many+1 || got.Entries[0] != (Entry{"zz", true}) || got.Entries[99].Name != "file 00098" {
		t.Errorf("%d of %d entries, from %v to %v", len(got.Entries), got.Total, got.Entries[0], got.Entries[99])
	}
	got, err = List(t.Context(), home, Browse{Home: home, MaxBytes: 10_000})
	if err != nil || got.Cut == nil {
		t.Fatal(got.Cut, err)
	}
	type wire struct {
		Nome  string `json:"nome"`
		IsDir bool   `json:"isDir"`
	}
	var sent []wire
	for _, e := range got.Entries {
		sent = append(sent, wire{e.Name, e.IsDir})
	}
	raw, err := json.Marshal(sent)
	if err != nil || len(raw) > 10_001 || len(raw) < 9_900 {
		t.Errorf("%d bytes on the wire (%v)", len(raw), err)
	}
}

func TestHomeDirIsWhereAPickerMayBegin(t *testing.T) {
	top := realTemp(t)
	home, code := mkdir(t, top, "home"), mkdir(t, top, "code")
	for _, tt := range []struct {
		b    Browse
		want string
	}{
		{Browse{Home: home}, home},
		{Browse{Home: home, Roots: []string{top}}, home},
		{Browse{Home: home, Roots: []string{filepath.Join(top, "missing"), code}}, code},
	} {
		if got, err := tt.b.HomeDir(); err != nil || got != tt.want {
			t.Errorf("%+v: %q, %v", tt.b, got, err)
		}
	}
	_, err := Browse{Home: home, Roots: []string{filepath.Join(top, "missing")}}.HomeDir()
	failuretest.Produced(t, err, failure.BrowseOutside)
}

func TestDrivesAreThoseThatAreRoots(t *testing.T) {
	got := drives([]string{`C:\Users\ana`, `d:\`, `E:`, `D:/`, `\\server\share`, `1:\`, "/", ""})
	if want := []Entry{{`D:\`, true}, {`E:\`, true}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := drives(nil); got == nil || len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func FuzzList(f *testing.F) {
	top := realTemp(f)
	home := mkdir(f, top, "home")
	mkdir(f, home, "a", "b")
	writeFile(f, mkdir(f, top, "home2"), "secret")
	for name, target := range map[string]string{"in": "a", "out": "../home2", "up": "..", "circle": "circle"} {
		link(f, target, home, name)
	}
	for _, seed := range []string{"", "/a", "/in", "/out", "/up/home2", "2", "/../home2", "/a\x00", "//a/./b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, tail string) {
		for _, path := range []string{home + tail, tail} {
			got, err := List(t.Context(), path, Browse{Home: home})
			if err != nil && failure.As(err) == nil {
				t.Fatalf("a refusal without a name: %v", err)
			}
			if err == nil && !exactlyWithin(home, got.Path) || slices.Contains(got.Entries, Entry{"secret", false}) {
				t.Fatalf("List(%q) gave %+v", path, got)
			}
		}
	})
}
