package action

import (
	"encoding/json"

	"brabo.dev/runner/runner/failure"
)

// Events of folder browsing (protocol.md 4.6). They read only, and are neither journalled nor acknowledged.
const (
	EventFsListDir      = "fs_list_dir"
	EventFsListDirReply = "fs_list_dir_reply"
	EventFsHomeDir      = "fs_home_dir"
	EventFsHomeDirReply = "fs_home_dir_reply"
)

// FsListDir asks for the entries of a folder.
type FsListDir struct{ Ref, Path string }

// DecodeFsListDir reads a fs_list_dir. As with DecodeExec the Ref is set if it could be read.
func DecodeFsListDir(raw json.RawMessage) (FsListDir, *failure.Failure) {
	f, fail := object(EventFsListDir, raw)
	if fail != nil {
		return FsListDir{}, fail
	}
	var l FsListDir
	if l.Ref, fail = f.ref(EventFsListDir); fail != nil {
		return l, fail
	}
	l.Path, fail = f.text(EventFsListDir, "path")
	return l, fail
}

// DecodeFsHomeDir reads the ref of a fs_home_dir.
func DecodeFsHomeDir(raw json.RawMessage) (ref string, fail *failure.Failure) {
	f, fail := object(EventFsHomeDir, raw)
	if fail != nil {
		return "", fail
	}
	return f.ref(EventFsHomeDir)
}

// Entrada is one entry of a listed folder.
type Entrada struct {
	Nome  string `json:"nome"`
	IsDir bool   `json:"isDir"` // a link to a folder is none
}

// FsListDirReply answers a FsListDir. Erro also tells that a long list was cut.
type FsListDirReply struct {
	Ref      string           `json:"ref"`
	Path     string           `json:"path"`
	Entradas []Entrada        `json:"entradas"` // never null
	Erro     string           `json:"erro,omitempty"`
	Failure  *failure.Failure `json:"failure,omitempty"`
}

// FsHomeDirReply answers a fs_home_dir.
type FsHomeDirReply struct {
	Ref     string           `json:"ref"`
	Path    string           `json:"path,omitempty"`
	Erro    string           `json:"erro,omitempty"`
	Failure *failure.Failure `json:"failure,omitempty"`
}
