package shown

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestWhatATerminalWouldHideIsShown(t *testing.T) {
	for in, want := range map[string]string{
		"git push --force":    "git push --force",
		"ação 日本 😀":           "ação 日本 😀",
		"a\x1b[2Kb":           "a<U+001B>[2Kb",
		"a\rb\tc\nd":          "a<U+000D>b<U+0009>c<U+000A>d",
		"rm \u202etxt.\u2066": "rm <U+202E>txt.<U+2066>",
		"a\u00a0b\u200bc":     "a<U+00A0>b<U+200B>c",
		"\u2028\ufeff\u00ad":  "<U+2028><U+FEFF><U+00AD>",
		"\u3164\u115f\u2800":  "<U+3164><U+115F><U+2800>",
		"a\ufe0f\U000e0041":   "a<U+FE0F><U+E0041>",
		"\xff\xc3":            "<0xFF><0xC3>",
		"\u009b\x7f\x00":      "<U+009B><U+007F><U+0000>",
		"\ue000":              "<U+E000>",
		"\ufffd":              "\ufffd",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

func TestJSONShowsTheSame(t *testing.T) {
	for _, text := range []string{"plain", "ação 日本 😀", "\u009b2J\x7f\x1b[m", "\u202e\u00a0\u200b\ufeff", "a\ufe0f\U000e0041", "tab\tand\nline"} {
		raw, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		got := JSON(raw)
		if strings.ContainsFunc(string(got), Hidden) {
			t.Errorf("%q hides something", got)
		}
		var back map[string]string
		if err := json.Unmarshal(got, &back); err != nil || back[text] != text {
			t.Errorf("%q means %q, %v", got, back, err)
		}
	}
}
