package shown

import "testing"

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
