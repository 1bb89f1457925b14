package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOneCommandBuildsAll needs dpkg-deb and rpm: it types the README's `go run ./packaging` in a copy of the tree, and
// opens everything that comes out. What is compiled for other systems is in the build's cache after `.ci/run`'s builds.
func TestOneCommandBuildsAll(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("an ordinary user's test: it only builds")
	}
	for _, program := range []string{"dpkg-deb", "rpm", "sha256sum"} {
		if _, err := exec.LookPath(program); err != nil {
			missing(t, "%s is not installed", program)
		}
	}
	tree := filepath.Join(t.TempDir(), "tree")
	copyTree(t, filepath.Dir(mustDir()), tree)
	said := typed(t, tree, "go", "run", "./packaging")
	dist := filepath.Join(tree, "dist")
	want := []string{"SHA256SUMS"}
	for _, name := range allTargets {
		system, arch, _ := strings.Cut(name, "/")
		top := "runner_0.0.0-dev_" + system + "_" + arch
		switch want = append(want, top+".spdx.json"); system {
		case "windows":
			want = append(want, top+".zip")
		case "linux":
			machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
			want = append(want, top+".tar.gz", "runner_0.0.0~dev_"+arch+".deb", "runner-0.0.0~dev-1."+machine+".rpm")
		default:
			want = append(want, top+".tar.gz")
		}
		t.Run(top, func(t *testing.T) { checkArchive(t, dist, top, system, arch) })
	}
	slices.Sort(want)
	if got := namesIn(t, dist); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, name := range want {
		if !strings.Contains(said, filepath.Join("dist", name)+"\n") {
			t.Errorf("%s was made and not told", name)
		}
	}
	t.Run("sums", func(t *testing.T) {
		checked := typed(t, dist, "sha256sum", "--check", "--strict", "SHA256SUMS")
		for _, name := range want {
			if name != "SHA256SUMS" && !strings.Contains(checked, name+": OK\n") {
				t.Errorf("no sum of %s", name)
			}
		}
	})
	t.Run("packages", func(t *testing.T) {
		for arch, machine := range map[string]string{"amd64": "x86_64", "arm64": "aarch64"} {
			deb := typed(t, dist, "dpkg-deb", "--field", "runner_0.0.0~dev_"+arch+".deb", "Package", "Architecture", "Version")
			if deb != "Package: runner\nArchitecture: "+arch+"\nVersion: 0.0.0~dev\n" {
				t.Error(deb)
			}
			list := typed(t, dist, "dpkg-deb", "--contents", "runner_0.0.0~dev_"+arch+".deb")
			for _, line := range []string{`-rwxr-xr-x root/root .* \./usr/bin/runner`, `-rw-r--r-- root/root .* \./usr/lib/systemd/system/runner@\.service`} {
				if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(list) {
					t.Errorf("no %s in %s", line, list)
				}
			}
			rpm := typed(t, dist, "rpm", "--query", "--package", "--queryformat", "%{NAME} %{ARCH} %{VERSION}", "runner-0.0.0~dev-1."+machine+".rpm")
			if rpm != "runner "+machine+" 0.0.0~dev" {
				t.Error(rpm)
			}
		}
	})
}

// typed runs a program that must succeed, with the time of the tests' builds, and gives what it prints.
func typed(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", epoch.Unix()))
	var words bytes.Buffer
	cmd.Stderr = &words
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s%s", program, args, err, out, &words)
	}
	return string(out)
}

func namesIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// checkArchive opens the archive of a target: it has what it has to, with those modes, and its binary is that system's.
func checkArchive(t *testing.T, dist, top, system, arch string) {
	t.Helper()
	program, completions := "runner", []string{"completions/runner.bash", "completions/_runner", "completions/runner.fish"}
	unpack, file := untar, top+".tar.gz"
	if system == "windows" {
		program, completions = "runner.exe", []string{"completions/runner.ps1"}
		unpack, file = unzip, top+".zip"
	}
	files := unpack(t, read(t, filepath.Join(dist, file)))
	want := append([]string{program, "LICENSE", "README.md", "sbom.spdx.json"}, completions...)
	for _, name := range want {
		mode := fs.FileMode(0o644)
		if name == program {
			mode = 0o755
		}
		if f := files[top+"/"+name]; len(f.data) == 0 || f.mode != mode {
			t.Errorf("%s: %d bytes, mode %v", name, len(f.data), f.mode)
		}
	}
	for name, f := range files {
		page := strings.HasPrefix(name, top+"/man/runner") && strings.HasSuffix(name, ".1") && bytes.Contains(f.data, []byte(`.TH "RUNNER`)) && f.mode == 0o644
		if !slices.Contains(want, strings.TrimPrefix(name, top+"/")) && !(page && system != "windows") {
			t.Errorf("%s should not be there, with mode %v", name, f.mode)
		}
	}
	if pages := len(files) - len(want); system != "windows" && pages < 40 {
		t.Errorf("%d pages of the manual", pages)
	}
	binary := filepath.Join(t.TempDir(), program)
	if err := os.WriteFile(binary, files[top+"/"+program].data, 0o700); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	for key, value := range map[string]string{"GOOS": system, "GOARCH": arch, "CGO_ENABLED": "0", "-trimpath": "true"} {
		if settings[key] != value {
			t.Errorf("%s is %q in %v", key, settings[key], slices.Sorted(maps.Keys(settings)))
		}
	}
	checkBill(t, files[top+"/sbom.spdx.json"].data, binary)
	if !bytes.Equal(files[top+"/sbom.spdx.json"].data, read(t, filepath.Join(dist, top+".spdx.json"))) {
		t.Error("the bill beside the archive is another one than that in it")
	}
}

// packed is one file of an archive.
type packed struct {
	data []byte
	mode fs.FileMode
}

func untar(t *testing.T, data []byte) map[string]packed {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]packed{}
	for r := tar.NewReader(zipped); ; {
		header, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if !header.ModTime.Equal(epoch) || header.Uid != 0 || header.Typeflag != tar.TypeReg {
			t.Errorf("%s: time %s, owner %d, type %c", header.Name, header.ModTime, header.Uid, header.Typeflag)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = packed{content, header.FileInfo().Mode()}
	}
}

func unzip(t *testing.T, data []byte) map[string]packed {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]packed{}
	for _, f := range r.File {
		if !f.Modified.Equal(epoch.Truncate(2 * time.Second)) { // the form knows even seconds only
			t.Errorf("%s: time %s", f.Name, f.Modified)
		}
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content) // which also checks its sum
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = packed{text, f.Mode()}
	}
	return files
}
