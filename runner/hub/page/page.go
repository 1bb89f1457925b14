// Package page is the hub's approval page: what a person looks at to decide, and the small pages around it (signing in,
// letting a machine in, a refusal).
//
// The page is static: HTML, one style sheet and a few ES modules, embedded and served as they are, without a build
// step. It shows what the hub's API tells it and decides nothing. Everything that comes from an agent is put into the
// document as text, never as markup, and the policy below forbids scripts, styles and requests that are not our own.
// Handler starts no goroutine and keeps nothing but the files.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// Policy is the Content-Security-Policy of every page.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

//go:embed assets
var assets embed.FS

// file is an asset as it is served.
type file struct {
	kind           string // Content-Type
	plain, zipped  []byte // zipped is nil where it would not be smaller
	tag, zippedTag string
}

// Handler serves the page at / and its files below /assets/, for GET and HEAD.
func Handler() http.Handler {
	files := map[string]file{}
	err := fs.WalkDir(assets, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := assets.ReadFile(name)
		if err != nil {
			return err
		}
		if name == "assets/index.html" {
			files["/"] = newFile(name, raw)
		} else {
			files["/"+name] = newFile(name, raw)
		}
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the binary: this can't happen to a user
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		f, found := files[r.URL.Path]
		switch {
		case !found:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		default:
			f.serve(w, r)
		}
	})
}

func newFile(name string, raw []byte) file {
	kind := mime.TypeByExtension(path.Ext(name))
	// The system's table may name a script's type differently, and a browser refuses a module of another type.
	switch path.Ext(name) {
	case ".js":
		kind = "text/javascript; charset=utf-8"
	case ".svg":
		kind = "image/svg+xml"
	}
	f := file{kind: kind, plain: raw}
	f.tag, f.zippedTag = tag(raw, ""), tag(raw, "-gzip")
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is a constant that exists
	if _, err := z.Write(raw); err == nil && z.Close() == nil && b.Len() < len(raw) {
		f.zipped = b.Bytes()
	}
	return f
}

// tag is the strong ETag of content; each encoding has its own (RFC 9110, 8.8.3).
func tag(content []byte, encoding string) string {
	sum := sha256.Sum256(content)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + encoding + `"`
}

// serve answers with the file, or with 304 where the browser has it. The browser asks each time, so that a page and its
// modules are always of one version.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	content, etag := f.plain, f.tag
	h := w.Header()
	if f.zipped != nil {
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			content, etag = f.zipped, f.zippedTag
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// acceptsGzip reads Accept-Encoding (RFC 9110, 12.5.3) as far as browsers write it.
func acceptsGzip(r *http.Request) bool {
	if r.Header.Get("Range") != "" {
		return false // a range is one of the plain bytes
	}
	for _, list := range r.Header.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(list, ",") {
			coding, weight, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
				w := strings.ReplaceAll(weight, " ", "")
				return w != "q=0" && w != "q=0.0" && w != "q=0.00" && w != "q=0.000"
			}
		}
	}
	return false
}

// harden sets the headers that every page of the hub carries.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	if h.Get("Referrer-Policy") == "" {
		h.Set("Referrer-Policy", "same-origin") // with none at all, a browser sends a form with the origin "null"
	}
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
