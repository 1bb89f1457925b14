package settings

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// The files of the existing client, by their literal names (protocol.md 2.1).
const (
	projectFileName = "brabo-runner.config.json"
	keyFileName     = "brabo-runner-device-key.jwk.json"
	baseFileName    = "runner.json"
)

// EffectiveDir is the folder that compatibility files are looked up in: INIT_CWD, which npm and pnpm set, else the
// working directory.
func (s Sources) EffectiveDir() string {
	dir := s.env().get("INIT_CWD")
	if dir == "" {
		return s.WorkDir
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.WorkDir, dir)
	}
	return filepath.Clean(dir)
}

// projectFile is what a browser writes beside the key when it pairs one project.
type projectFile struct {
	path      string
	projectID string
	apiURL    string
}

// ProjectFile gives the path of the existing client's project file in the effective folder, and the project and server
// that it names; ok is false where it counts as none.
func (s Sources) ProjectFile() (path, projectID, apiURL string, ok bool) {
	file, ok := readProjectFile(s.EffectiveDir())
	return file.path, file.projectID, file.apiURL, ok
}

// KeyFile is where the existing client keeps its device key in the effective folder; it need not exist.
func (s Sources) KeyFile() string { return filepath.Join(s.EffectiveDir(), keyFileName) }

// DeviceKeyFolder is where the existing client's installer keeps the machine's key: beside the base.
func (s Sources) DeviceKeyFolder() string { return filepath.Dir(s.baseFilePath()) }

// readProjectFile reads the project file of dir. One that is missing, unreadable or incomplete counts as none.
func readProjectFile(dir string) (projectFile, bool) {
	path := filepath.Join(dir, projectFileName)
	data, err := readBounded(path)
	if err != nil {
		return projectFile{}, false
	}
	var in struct {
		ProjectID string `json:"projectId"`
		APIURL    string `json:"apiUrl"`
	}
	if json.Unmarshal(data, &in) != nil || in.ProjectID == "" || in.APIURL == "" {
		return projectFile{}, false
	}
	return projectFile{path, in.ProjectID, in.APIURL}, true
}

// baseFilePath is where the existing client's installer writes the base.
func (s Sources) baseFilePath() string {
	dir := s.env().get("XDG_CONFIG_HOME")
	if dir == "" {
		dir = filepath.Join(s.Folders().Home, ".config")
	}
	return filepath.Join(dir, "brabo", baseFileName)
}

// readBaseFile reads the base from path. A missing file, or one without a base, is no base; one that can't be
// understood is a failure.
func readBaseFile(path string) (string, error) {
	data, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", failure.New(failure.SettingInvalid, path).
			Because("the file can't be read: %v", err).Then("make it readable for this user").Wrap(err)
	}
	var in struct {
		Base any `json:"base"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return "", failure.New(failure.SettingInvalid, path).
			Because("the file is not a JSON object").Then("correct it: it must be {\"base\": \"/an/absolute/folder\"}").Wrap(err)
	}
	base, _ := in.Base.(string)
	return strings.TrimSpace(base), nil
}

// keyFileState tells the states of a key file apart as far as its outside shows them; what the key itself is worth is
// for the package that signs with it.
func keyFileState(path string) (present bool, err error) {
	data, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return true, failure.New(failure.KeyFileInvalid, path).
			Because("the file can't be read: %v", err).Then("make it readable for this user").Wrap(err)
	}
	var key map[string]json.RawMessage
	if err := json.Unmarshal(data, &key); err != nil || key == nil {
		return true, failure.New(failure.KeyFileInvalid, path).Because("the file is not a JSON object")
	}
	var kid string
	if json.Unmarshal(key["kid"], &kid) != nil || kid == "" {
		return true, failure.New(failure.KeyFileInvalid, path).
			Because("the key has no `kid`, so its registration was never finished").
			Then("finish it with `runner device-key finish --id ID`, or make a new pairing")
	}
	return true, nil
}
