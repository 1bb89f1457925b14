package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
)

// entry is one file of an archive.
type entry struct {
	name   string // in the archive, with slashes
	source string
	mode   int64
}

// archive packs a target for people who install by hand: the binary, its documents, and its bill of materials.
func (r release) archive(t target, binary, bom string, d documents) (string, error) {
	top := fmt.Sprintf("runner_%s_%s_%s", r.version, t.system, t.arch)
	entries := []entry{
		{path.Join(top, "runner"+t.suffix()), binary, 0o755},
		{path.Join(top, "LICENSE"), d.license, 0o644},
		{path.Join(top, "README.md"), d.readme, 0o644},
		{path.Join(top, "sbom.spdx.json"), bom, 0o644},
	}
	if t.system == "windows" {
		entries = append(entries, entry{path.Join(top, "completions", "runner.ps1"), d.powershell, 0o644})
		file := filepath.Join(r.out, top+".zip")
		return file, writeFile(file, func(w io.Writer) error { return r.zip(w, entries) })
	}
	for _, completion := range []string{d.bash, d.zsh, d.fish} {
		entries = append(entries, entry{path.Join(top, "completions", filepath.Base(completion)), completion, 0o644})
	}
	for _, page := range d.manual {
		entries = append(entries, entry{path.Join(top, "man", filepath.Base(page)), page, 0o644})
	}
	file := filepath.Join(r.out, top+".tar.gz")
	return file, writeFile(file, func(w io.Writer) error { return r.tar(w, entries) })
}

func (r release) tar(w io.Writer, entries []entry) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression) // its header holds neither name nor time
	if err != nil {
		return err
	}
	t := tar.NewWriter(zipped)
	for _, e := range entries {
		data, err := os.ReadFile(e.source)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(data)), ModTime: r.when, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		if _, err := t.Write(data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

func (r release) zip(w io.Writer, entries []entry) error {
	z := zip.NewWriter(w)
	for _, e := range entries {
		data, err := os.ReadFile(e.source)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: r.when}
		header.SetMode(os.FileMode(e.mode))
		f, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			return err
		}
	}
	return z.Close()
}

// writeFile makes the file at path with what fill writes; a file that is not whole does not stay.
func writeFile(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	err = fill(f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(path)
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
