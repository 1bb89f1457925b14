package action

import (
	"encoding/json"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Events by which a server has a project folder made (protocol.md 4.3).
const (
	EventWorkspaceCreate       = "workspace_create"
	EventWorkspaceCreateResult = "workspace_create_result"
)

// Motivo is why no folder was made, for the server.
type Motivo string

// The reasons of protocol.md 4.3.
const (
	MotivoSemBase      Motivo = "sem-base"
	MotivoSegmento     Motivo = "segmento"
	MotivoNaoEPasta    Motivo = "nao-e-pasta"
	MotivoMkdir        Motivo = "mkdir"
	MotivoGit          Motivo = "git"
	MotivoDesconhecido Motivo = "desconhecido"
)

// WorkspaceCreate asks for a folder below this execution's base.
type WorkspaceCreate struct {
	Ref, ProjectID string
	Segmento       string // relative to the base, not looked at yet
	RepoURL        string // empty: git init
	// Env is the credential for the clone. Its values are secrets: never logged, never stored.
	Env      map[string]string
	Deadline time.Duration // from receipt; zero where the server sent none
}

// DecodeWorkspaceCreate reads a workspace_create. As with DecodeExec the Ref is set if it could be read.
func DecodeWorkspaceCreate(raw json.RawMessage, granted Extensions) (WorkspaceCreate, *failure.Failure) {
	const event = EventWorkspaceCreate
	f, fail := object(event, raw)
	if fail != nil {
		return WorkspaceCreate{}, fail
	}
	var c WorkspaceCreate
	if c.Ref, fail = f.ref(event); fail != nil {
		return c, fail
	}
	if c.ProjectID, fail = f.text(event, "projectId"); fail != nil {
		return c, fail
	}
	if c.Segmento, fail = f.text(event, "segmento"); fail != nil {
		return c, fail
	}
	if c.RepoURL, fail = f.optional(event, "repoUrl"); fail != nil {
		return c, fail
	}
	if c.Env, fail = f.env(event); fail != nil {
		return c, fail
	}
	if granted.Has(ExtDeadline) {
		c.Deadline, fail = f.deadline(event)
	}
	return c, fail
}

// WorkspaceCreateResult answers a WorkspaceCreate.
type WorkspaceCreateResult struct {
	Ref     string           `json:"ref"`
	Sucesso bool             `json:"sucesso"`
	Caminho string           `json:"caminho,omitempty"` // of a success: absolute
	Motivo  Motivo           `json:"motivo,omitempty"`
	Erro    string           `json:"erro,omitempty"`
	Failure *failure.Failure `json:"failure,omitempty"`
}

// Made gives the folder that a result of a WorkspaceCreate tells of; false for one that failed, and for other results.
func Made(event string, result json.RawMessage) (path string, made bool) {
	if event != EventWorkspaceCreateResult {
		return "", false
	}
	var r WorkspaceCreateResult
	err := json.Unmarshal(result, &r)
	return r.Caminho, err == nil && r.Sucesso
}

// WorkspaceNotCreated answers a WorkspaceCreate that failed.
func WorkspaceNotCreated(ref string, motivo Motivo, fail *failure.Failure) WorkspaceCreateResult {
	return WorkspaceCreateResult{Ref: ref, Motivo: motivo, Erro: fail.Error(), Failure: fail}
}
