package containerctl

import (
	"archive/tar"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// applets are the names under which the image has busybox.
var applets = strings.Fields("sh echo cat sleep true false ls id touch mkdir test stat head dd yes env setsid ps kill " +
	"wget nc grep wc tr pwd rm readlink sed seq awk date")

// absent leaves a program out of the image.
const absent = "-"

// imageTar is a small image: busybox, a writable /tmp, and git with its libraries where this machine has one. extra
// are further files by path.
func imageTar(t testing.TB, extra map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	add := func(h tar.Header, body []byte) {
		h.Size = int64(len(body))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	file := func(from, to string) {
		body, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		add(tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(to, "/"), Mode: 0o755}, body)
	}
	for _, dir := range []string{"bin/", "etc/", "usr/", "usr/bin/", "proc/", "dev/", "sys/"} {
		add(tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}, nil)
	}
	add(tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, nil)
	file(busybox(t), "bin/busybox")
	for _, a := range applets {
		if _, replaced := extra["bin/"+a]; !replaced {
			add(tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + a, Linkname: "busybox", Mode: 0o777}, nil)
		}
	}
	add(tar.Header{Typeflag: tar.TypeReg, Name: "etc/passwd", Mode: 0o644}, []byte("root:x:0:0:root:/root:/bin/sh\n"))
	for name, body := range extra {
		if body == absent {
			continue
		}
		add(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755}, []byte(body))
	}
	if git, err := exec.LookPath("git"); err == nil {
		file(git, "usr/bin/git")
		for _, lib := range libraries(git) {
			file(lib, lib)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func busybox(t testing.TB) string {
	t.Helper()
	p, err := exec.LookPath("busybox")
	if err != nil {
		p = "/bin/busybox"
	}
	_, err = os.Stat(p)
	need(t, err == nil, "a static busybox (busybox-static)")
	return p
}

// libraries lists what a program of this machine is linked to, its loader included.
func libraries(program string) []string {
	out, err := exec.Command("ldd", program).Output()
	if err != nil {
		return nil
	}
	var libs []string
	for word := range strings.FieldsSeq(string(out)) {
		if filepath.IsAbs(word) {
			libs = append(libs, word)
		}
	}
	return libs
}
