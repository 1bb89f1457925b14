package action

import (
	"encoding/json"

	"brabo.dev/runner/runner/failure"
)

// Events of the mirror (protocol.md 4.7).
const (
	EventMirrorSync       = "mirror_sync"
	EventMirrorSyncResult = "mirror_sync_result"
)

// MirrorSync asks to bring the mirror of the project up to date.
type MirrorSync struct {
	Ref     string
	Destino string // to be compared with the destination granted at the join, never obeyed
	Momento string // a trace only
}

// DecodeMirrorSync reads a mirror_sync. As with DecodeExec the Ref is set if it could be read.
func DecodeMirrorSync(raw json.RawMessage) (MirrorSync, *failure.Failure) {
	const event = EventMirrorSync
	f, fail := object(event, raw)
	if fail != nil {
		return MirrorSync{}, fail
	}
	var m MirrorSync
	if m.Ref, fail = f.ref(event); fail != nil {
		return m, fail
	}
	if m.Destino, fail = f.text(event, "destino"); fail != nil {
		return m, fail
	}
	if m.Momento, fail = f.optional(event, "momento"); fail != nil {
		return m, fail
	}
	if m.Momento == "" {
		m.Momento = "desconhecido"
	}
	return m, nil
}

// MirrorSyncResult tells how a round ended. The three counts are of this round, and absent where none began.
type MirrorSyncResult struct {
	Ref       string           `json:"ref"`
	Sucesso   bool             `json:"sucesso"`
	Destino   string           `json:"destino,omitempty"`
	Copiados  *int             `json:"copiados,omitempty"`
	Pulados   *int             `json:"pulados,omitempty"`
	Recusados *int             `json:"recusados,omitempty"`
	Erro      string           `json:"erro,omitempty"`
	Failure   *failure.Failure `json:"failure,omitempty"`
}

// Mirror is what a join's reply says of the mirror (protocol.md 3.5).
type Mirror struct {
	Destino string `json:"destino"`
}

// GrantedMirror reads the mirror's destination from a join's reply; empty where there is none. It holds for this
// connection only.
func GrantedMirror(reply json.RawMessage) string {
	var r struct {
		Espelho struct {
			Destino any `json:"destino"`
		} `json:"espelho"`
	}
	if err := json.Unmarshal(reply, &r); err != nil {
		return ""
	}
	destino, _ := r.Espelho.Destino.(string)
	return destino
}
