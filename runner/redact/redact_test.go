package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const token = `s3cr/et+"tok&en~ç`

func TestEveryFormIsTakenOut(t *testing.T) {
	ascii := strings.ReplaceAll(token, "ç", "\\u00e7")
	jsonText, err := json.Marshal(token)
	if err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]string{
		"plain": token, "query": url.QueryEscape(token), "path": url.PathEscape(token), "user": url.UserPassword("u", token).String()[2:],
		"lower-case escapes": strings.ToLower(url.QueryEscape(token)), "encodeURIComponent": strings.ReplaceAll(url.QueryEscape(token), "%7E", "~"),
		"json": string(jsonText[1 : len(jsonText)-1]), "json without html": strings.ReplaceAll(token, `"`, `\"`),
		"ascii json": strings.ReplaceAll(ascii, `"`, `\"`), "json with slashes": strings.NewReplacer(`"`, `\"`, `/`, `\/`).Replace(token),
		"go": strconv.Quote(token)[1 : len(strconv.Quote(token))-1],
	} {
		if got := New(token).Text("a " + form + " z"); got != "a (redacted) z" {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
		for _, before := range []string{"", "u", "us", "use", "user:"} {
			for _, after := range []string{"", "x", "xy"} {
				got := New(token).Text(enc.EncodeToString([]byte(before + token + after)))
				// What stands for the neighbours is left, with up to two characters that they share with the secret.
				if !strings.Contains(got, Mark) || len(got) > len(Mark)+(len(before)+len(after))*4/3+4 {
					t.Errorf("%q %q: %s", before, after, got)
				}
			}
		}
	}
}

// Needs bash, which quotes in ways of its own.
func TestWhatAShellPrintsOfASecretIsTakenOut(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	const secret = "pa$$w\"rd'x!y\\z`v&;"
	for _, text := range []string{`export -p`, `set`, `set -x; : "$SECRET"`, `printf '%q\n' "$SECRET"`, `declare -p SECRET`, `echo "${SECRET@Q}"`} {
		cmd := exec.Command(bash, "-c", text)
		cmd.Env = []string{"SECRET=" + secret}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		clean := New(secret).Text(string(out))
		if strings.Contains(clean, "rd") && strings.Contains(clean, "x!y") || !strings.Contains(clean, Mark) {
			t.Errorf("%s: %s", text, clean)
		}
	}
}

func TestManySecretsComeInOnePiece(t *testing.T) {
	var pieces counter
	w := New(token).Writer(&pieces)
	if _, err := io.WriteString(w, strings.Repeat(token+"\n", 1000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil || pieces.n > 2 || pieces.text.String() != strings.Repeat(Mark+"\n", 1000) {
		t.Errorf("%d pieces of %d bytes, %v", pieces.n, pieces.text.Len(), err)
	}
}

// counter counts how often it is written to.
type counter struct {
	n    int
	text strings.Builder
}

func (c *counter) Write(p []byte) (int, error) {
	c.n++
	return c.text.Write(p)
}

func TestWhatIsNoSecretStays(t *testing.T) {
	s := New(token, "short", "", "two lines of\n  a secret\r\n\nno")
	for text, want := range map[string]string{
		"short and " + token[1:]:             "short and " + token[1:],
		"> two lines of\r\n> a secret\r\nno": "> (redacted)\r\n> (redacted)\r\nno",
		token + token + "." + token:          "(redacted).(redacted)",
		"":                                   "",
	} {
		if got := s.Text(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
		if got := s.Bytes([]byte(text)); string(got) != want {
			t.Errorf("%q became %q", text, got)
		}
	}
	if New("short", "1234567") != nil {
		t.Error("short secrets are looked for")
	}
	var none *Set
	if none.Text(token) != token || string(none.Bytes([]byte(token))) != token || string(none.JSON([]byte(`"x"`))) != `"x"` {
		t.Error("the empty set changes something")
	}
}

func TestJSONStaysJSON(t *testing.T) {
	s := New(`"},{"ab"`, "12345678901234567890")
	for raw, want := range map[string]string{
		`[{"b":1},{"ab":12345678901234567890}]`:                    `[{"b":1},{"ab":12345678901234567890}]`,
		`{"x":["<\"},{\"ab\">",1.50],"12345678901234567890":null}`: `{"(redacted)":null,"x":["\u003c(redacted)\u003e",1.50]}`,
		`no json "},{"ab" at all`:                                  `no json (redacted) at all`,
	} {
		if got := string(s.JSON([]byte(raw))); got != want {
			t.Errorf("%s became %s", raw, got)
		}
	}
}

// pieces writes text in pieces and gives what came, piece by piece.
func pieces(t *testing.T, s *Set, texts ...string) []string {
	t.Helper()
	var got []string
	var b bytes.Buffer
	w := s.Writer(&b)
	for _, text := range texts {
		if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
		got = append(got, b.String())
		b.Reset()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return append(got, b.String())
}

func TestStreamHoldsNoMoreThanWhatMayBeASecret(t *testing.T) {
	s := New("abcdefgh", "defghijklmn")
	for _, c := range [][2][]string{
		{{"x", "ab", "cx", "ab"}, {"x", "", "abcx", "", "ab"}},
		{{"abcd", "efgh", ".\n"}, {"", "(redacted)", ".\n", ""}},
		{{"abcdefgh", "abcdefghabcd", "efgh"}, {"(redacted)", "", "", ""}},
		{{"abcdefghijk", "lmn."}, {"(redacted)", ".", ""}}, // two that overlap
		{{"abcdefghijk", "x"}, {"(redacted)", "ijkx", ""}},
		{{"xdefghijk", "lm"}, {"x", "", "defghijklm"}},
	} {
		if diff := cmp.Diff(c[1], pieces(t, s, c[0]...)); diff != "" {
			t.Errorf("%q: %s", c[0], diff)
		}
	}
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestErrorOfTheWriterBehindIsKept(t *testing.T) {
	want := broken{bytes.ErrTooLarge}
	w := New(token).Writer(want)
	if _, err := w.Write([]byte("xyz\n")); err != want.error {
		t.Error(err)
	}
	if err := w.Close(); err != want.error {
		t.Error(err)
	}
}

func TestKnownForgetsShortLivedSecrets(t *testing.T) {
	var none *Known
	if none.Set() != nil || none.With() != nil || none.With(token).Text(token) != Mark {
		t.Error("nil knows something, or nothing of what it is given")
	}
	var k Known
	k.Keep(token, "", token)
	for i := range recent + 1 {
		k.Pass("ticket-" + strconv.Itoa(100+i))
	}
	text := strings.Join([]string{token, "ticket-100", "ticket-101", "ticket-132", "with-this"}, " ")
	if got := k.Set().Text(text); got != "(redacted) ticket-100 (redacted) (redacted) with-this" {
		t.Error(got)
	}
	if got := k.With("with-this").Text(text); got != "(redacted) ticket-100 (redacted) (redacted) (redacted)" {
		t.Error(got)
	}
	if first := k.Set(); first != k.Set() {
		t.Error("a set that did not change is made again")
	}
}

func TestShapesOfSecretsAreTakenOut(t *testing.T) {
	for text, secret := range map[string]string{
		`token brb_abcDEF-12_3 end`:                                    "brb_abc",
		`ghp_0123456789abcdef`:                                         "0123456789",
		`Authorization: Bearer abcdefghijkl`:                           "abcdefghijkl",
		`https://ana:hunter2@git.example/x`:                            "hunter2",
		`{"kty":"OKP","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyu"}`: "nWGxne",
		`eyJhbGciOi.eyJpYXQiOjE.c2lnbmF0dXJl`:                          "c2lnbmF0",
		`/runner/websocket?ticket=9pQ_x-y&vsn=2.0.0`:                   "9pQ_x",
	} {
		if got := string(Shapes([]byte(text))); strings.Contains(got, secret) || !strings.Contains(got, Mark) {
			t.Errorf("%s became %s", text, got)
		}
	}
	for _, plain := range []string{"ls -l /home/ana", "https://git.example:8080/x", "bearer of news"} {
		if got := string(Shapes([]byte(plain))); got != plain {
			t.Errorf("%s became %s", plain, got)
		}
	}
}

func TestLinesStayWhole(t *testing.T) {
	var k Known
	k.Keep(token, `,"msg":"`)
	for line, want := range map[string]string{
		`{"a":1,"msg":"plain"}` + "\n":                          `{"a":1,"msg":"plain"}` + "\n",
		`{"a":1,"msg":"s3cr%2Fet%2B%22tok%26en~%C3%A7"}` + "\n": `{"a":1,"msg":"(redacted)"}` + "\n",
		"msg=" + token + "\n":                                   "msg=(redacted)\n",
		"\n":                                                    "\n",
	} {
		var b bytes.Buffer
		if n, err := k.Lines(&b).Write([]byte(line)); n != len(line) || err != nil || b.String() != want {
			t.Errorf("%q became %q: %d, %v", line, b.String(), n, err)
		}
	}
	var none *Known
	var b bytes.Buffer
	if none.Lines(&b) != &b {
		t.Error("nil stands between")
	}
}

// What was worked on is not found; SECURITY.md says so.
func TestNotDefendedSecretThatIsWorkedOn(t *testing.T) {
	s := New("a-secret-of-some-length")
	for _, text := range []string{"htgnel-emos-fo-terces-a", "a-secret -of-some-length", "612d7365637265742d6f662d736f6d652d6c656e677468"} {
		if s.Text(text) != text {
			t.Errorf("%s is found", text)
		}
	}
	long := strings.Repeat("a-long-secret", 8) // base64 wraps it after 76 characters
	wrapped := base64.StdEncoding.EncodeToString([]byte(long))
	wrapped = wrapped[:76] + "\n" + wrapped[76:]
	if New(long).Text(wrapped) != wrapped {
		t.Error("base64 over several lines is found")
	}
}

func TestWhatFollowsJSONIsLookedAtToo(t *testing.T) {
	if got := string(New(token).JSON([]byte(`{"a":1} ` + token))); got != `{"a":1} `+Mark {
		t.Error(got)
	}
}

func TestFormsAreTakenOutWhereverTheStreamIsCut(t *testing.T) {
	s, forms := New(token), map[string]bool{}
	addForms(forms, token)
	for form := range forms {
		for one := range len(form) + 1 {
			for other := one; other <= len(form); other++ {
				got := strings.Join(pieces(t, s, "a "+form[:one], form[one:other], form[other:]+" z"), "")
				if got != "a (redacted) z" {
					t.Fatalf("%q, %q, %q became %q", form[:one], form[one:other], form[other:], got)
				}
			}
		}
	}
}
