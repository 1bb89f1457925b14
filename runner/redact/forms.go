package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// addForms adds every form of a secret. None is shorter than MinLength.
func addForms(all map[string]bool, secret string) {
	for _, part := range parts(secret) {
		all[part] = true
		for _, form := range base64Forms(part) {
			all[form] = true
		}
		for _, form := range urlForms(part) {
			all[form] = true
		}
		for _, form := range append(quotedForms(part), shellForms(part)...) {
			all[form] = true
		}
	}
}

// parts are the secret without white space around it, and its lines; only those that are long enough.
func parts(secret string) []string {
	var long []string
	for _, part := range append(strings.FieldsFunc(secret, isBreak), secret) {
		if part = strings.TrimSpace(part); len(part) >= MinLength {
			long = append(long, part)
		}
	}
	return long
}

func isBreak(r rune) bool { return r == '\n' || r == '\r' }

// base64Forms are those characters that the secret alone decides, for each of the three places where it may begin in
// what was encoded, in both alphabets. The characters that it shares with its neighbours are not looked for.
func base64Forms(secret string) []string {
	var forms []string
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before, shared := range []int{0, 2, 3} {
			text := alphabet.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
			forms = append(forms, text[shared:(before+len(secret))*8/6])
		}
	}
	return forms
}

// urlPlain are the characters besides letters and digits that the usual escapes leave alone: RFC 3986 and most
// libraries, encodeURIComponent, and paths and user names in Go's URLs.
var urlPlain = []string{"-_.~", "-_.~!*'()", "-_.~$&+=:@", "-_.~$&+,;="}

// urlForms are percent escapes with digits in either case, and with + for a space as forms have it.
func urlForms(secret string) []string {
	var forms []string
	for _, plain := range urlPlain {
		for _, escape := range []string{"%%%02X", "%%%02x"} {
			var b strings.Builder
			for i := range len(secret) {
				if c := secret[i]; isAlphanumeric(c) || strings.IndexByte(plain, c) >= 0 {
					b.WriteByte(c)
				} else {
					fmt.Fprintf(&b, escape, c)
				}
			}
			forms = append(forms, b.String(), strings.ReplaceAll(b.String(), "%20", "+"))
		}
	}
	return forms
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// quotedForms are those of JSON, with and without the escapes that encoders may choose, and of quoted Go text, which
// the logs for people have.
func quotedForms(secret string) []string {
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(secret) != nil {
		return nil // a string is always encoded
	}
	minimal := strings.TrimSuffix(plain.String(), "\n")
	var html strings.Builder
	if enc = json.NewEncoder(&html); enc.Encode(secret) != nil {
		return nil
	}
	forms := []string{minimal, strings.TrimSuffix(html.String(), "\n"), strconv.Quote(secret)}
	for i, form := range forms {
		forms[i] = form[1 : len(form)-1]
	}
	return append(forms, ascii(forms[0]), strings.ReplaceAll(forms[0], "/", `\/`))
}

// shellForms are those that a shell prints: between double quotes (export -p), single quotes (set -x), and bare (%q).
func shellForms(secret string) []string {
	escaped := func(special string) string {
		var b strings.Builder
		for i := range len(secret) {
			if strings.IndexByte(special, secret[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(secret[i])
		}
		return b.String()
	}
	return []string{
		escaped("\"\\$`"), strings.ReplaceAll(secret, "'", `'\''`), escaped(" \t'\"\\|&;()<>!{}*[]?^$`,"),
	}
}

// ascii escapes what is not ASCII in a JSON text, as encoders in other languages do.
func ascii(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
