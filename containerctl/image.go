package containerctl

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/distribution/reference"
)

const maxImage = 512 // characters

// imageForbidden are the characters that no image name of protocol.md 4.4 may hold: white space, NUL and whatever
// a shell or an option parser would make something of.
const imageForbidden = " \t\r\n\x00;&|$()<>\"'*?!#`\\"

// imageFault says what is wrong with an image's name by the rules of protocol.md 4.4, or "".
func imageFault(s string) string {
	if n := utf8.RuneCountInString(s); n > maxImage {
		return fmt.Sprintf("the name has %d characters, at most %d are taken", n, maxImage)
	}
	if strings.HasPrefix(s, "-") {
		return fmt.Sprintf("%q begins with a dash and could be taken for an option", s)
	}
	if i := strings.IndexAny(s, imageForbidden); i >= 0 {
		return fmt.Sprintf("%q holds the character %q", s, rune(s[i]))
	}
	named, err := reference.ParseNormalizedNamed(s)
	if err != nil {
		return fmt.Sprintf("%q is not an image name: %v", s, err)
	}
	if _, ok := named.(reference.Digested); ok {
		return ""
	}
	tagged, ok := named.(reference.Tagged)
	if !ok {
		return fmt.Sprintf("%q has neither a tag nor a digest, so that it would mean another image tomorrow", s)
	}
	if tagged.Tag() == "latest" {
		return fmt.Sprintf("%q has the tag latest, which means another image tomorrow", s)
	}
	return ""
}

// sameImage reports whether two names mean the same by name alone: engines complete short names in ways of their
// own (docker.io/library/x, localhost/x).
func sameImage(a, b string) bool {
	return a == b || completed(a) == completed(b)
}

func completed(name string) string {
	name = strings.TrimPrefix(name, "localhost/")
	if n, err := reference.ParseNormalizedNamed(name); err == nil {
		return n.String()
	}
	return name
}
