package journal

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// maxText bounds what the history shows of one action, in bytes.
const maxText = 4096

// without gives the payload as it may be stored, which is without env, what was asked for as a person reads it, and
// whether there was an env. Of what is no object nothing is stored.
func without(payload json.RawMessage) (stored []byte, text string, hadEnv bool) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(payload, &members); err != nil || members == nil {
		return nil, "", false
	}
	for name := range members {
		// Another spelling is no env to the decoder, but a sender that means one puts its secrets there.
		if strings.EqualFold(name, "env") {
			hadEnv = true
			delete(members, name)
		}
	}
	stored, err := json.Marshal(members)
	if err != nil {
		return nil, "", hadEnv
	}
	return stored, shorten(describe(members)), hadEnv
}

// describe names what was asked for: a command's text, else the type of an action, else where a folder is made, else
// the container's image.
func describe(members map[string]json.RawMessage) string {
	for _, name := range []string{"command", "type", "segmento"} {
		var s string
		if json.Unmarshal(members[name], &s) == nil && s != "" {
			return s
		}
	}
	var spec struct {
		Imagem string `json:"imagem"`
	}
	_ = json.Unmarshal(members["spec"], &spec) // of another form: there is nothing to tell
	return spec.Imagem
}

func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

// outcome reads from a result what the history tells of it; nil where it says nothing.
func outcome(payload json.RawMessage) (exitCode *int, fail *string) {
	var r struct {
		ExitCode *int `json:"exitCode"`
		Failure  *struct {
			Name string `json:"name"`
		} `json:"failure"`
	}
	if err := json.Unmarshal(payload, &r); err != nil {
		return nil, nil
	}
	if r.Failure != nil && r.Failure.Name != "" {
		fail = &r.Failure.Name
	}
	return r.ExitCode, fail
}
