package journal

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzWhatIsStoredHoldsNoEnv(f *testing.F) {
	for _, seed := range []string{
		`{"ref":"a","command":"ls","env":{"A":"b"}}`, `{"env":1,"ENV":2,"type":"git_push"}`, `{"spec":{"imagem":"x"},"command":7}`,
		`{"spec":[]}`, `[]`, `null`, `{`, "{\"command\":\"\xff\"}", `{"command":"` + strings.Repeat("é", 3000) + `"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		stored, text, _ := without(payload)
		if len(text) > maxText {
			t.Errorf("%d bytes of text", len(text))
		}
		if stored == nil {
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(stored, &members); err != nil || members == nil {
			t.Fatalf("stored %q: %v", stored, err)
		}
		for name := range members {
			if strings.EqualFold(name, "env") {
				t.Errorf("stored %q", stored)
			}
		}
		outcome(payload)
	})
}
