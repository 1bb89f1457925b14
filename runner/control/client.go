package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"brabo.dev/runner/runner/failure"
)

// maxAnswer in bytes is more than a daemon with thousands of projects has to say.
const maxAnswer = 64 << 20

// Client asks the daemon of one state folder.
type Client struct {
	folder string
	http   http.Client
}

// NewClient makes a client for the daemon whose state is in folder. Close it when it is not used any more.
func NewClient(folder string) *Client {
	c := &Client{folder: folder}
	c.http.Transport = &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, folder) },
		DisableKeepAlives: true,
	}
	return c
}

// Status asks for the daemon's status. Failures: DaemonNotRunning, ControlRefused, ControlFailed.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	return s, c.get(ctx, "/status", &s)
}

func (c *Client) get(ctx context.Context, path string, into any) error {
	return c.ask(ctx, http.MethodGet, path, nil, into)
}

func (c *Client) post(ctx context.Context, path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return failure.New(failure.ControlFailed, address(c.folder)).Wrap(err)
	}
	return c.ask(ctx, http.MethodPost, path, bytes.NewReader(raw), into)
}

func (c *Client) ask(ctx context.Context, method, path string, question io.Reader, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://runner"+path, question)
	if err != nil {
		return failure.New(failure.ControlFailed, address(c.folder)).Wrap(err)
	}
	response, err := c.http.Do(request)
	if nobody(err) {
		return failure.New(failure.DaemonNotRunning, c.folder).Wrap(err)
	}
	if err != nil {
		return failure.New(failure.ControlFailed, address(c.folder)).Wrap(err)
	}
	defer response.Body.Close()
	body := json.NewDecoder(io.LimitReader(response.Body, maxAnswer))
	if response.StatusCode == http.StatusOK {
		if err := body.Decode(into); err != nil {
			return failure.New(failure.ControlFailed, address(c.folder)).Wrap(fmt.Errorf("reading the answer: %w", err))
		}
		return nil
	}
	var said refusal
	if err := body.Decode(&said); err != nil || said.Failure == nil {
		return failure.New(failure.ControlFailed, address(c.folder)).Because("it answered %s", response.Status).Wrap(err)
	}
	return said.Failure
}

// nobody tells whether err means that there is no daemon, rather than one that can't be asked.
func nobody(err error) bool { return errors.Is(err, fs.ErrNotExist) || nobodyListens(err) }

// Found is what one daemon answered.
type Found struct {
	Folder string
	Status Status
	Err    error // a named failure; then there is no Status
}

// Find asks every daemon below the state folder, that of all of this machine's projects first. Folders without a
// running daemon are left out.
func Find(ctx context.Context, state string) []Found {
	var found []Found
	for _, folder := range Folders(state) {
		status, err := NewClient(folder).Status(ctx)
		if failure.Is(err, failure.DaemonNotRunning) {
			continue
		}
		found = append(found, Found{folder, status, err})
	}
	return found
}

// projectsName is the folder in the state folder that holds those of daemons that serve one project.
const projectsName = "projects"

// ProjectFolder is the state folder of a daemon that serves one project alone, below that of this machine's; name
// stands for the project.
func ProjectFolder(state, name string) string { return filepath.Join(state, projectsName, name) }

// Folders lists where daemons of this person can have their state: the state folder itself and one for each project
// that was ever served alone.
func Folders(state string) []string {
	folders := []string{state}
	single := filepath.Join(state, projectsName)
	entries, err := os.ReadDir(single)
	if err != nil {
		return folders // there is none, or it can't be ours
	}
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, filepath.Join(single, e.Name()))
		}
	}
	return folders
}
