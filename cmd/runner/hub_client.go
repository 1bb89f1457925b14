package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/settings"
)

// Variables by which an agent finds its hub.
const (
	hubURLVariable     = "RUNNER_HUB_URL"
	agentTokenVariable = "RUNNER_AGENT_TOKEN"
)

// hubFlags say which hub is asked, as whom, and about which project.
type hubFlags struct {
	url, tokenFile, project string
}

func (f *hubFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.url, "hub", "", "address of the hub (default: RUNNER_HUB_URL, else the one on this machine)")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token to ask with (default: RUNNER_AGENT_TOKEN, else the owner's of this machine's hub)")
}

func (f *hubFlags) addProject(flags *pflag.FlagSet) {
	f.add(flags)
	flags.StringVar(&f.project, "project", "", "id or name of the project (default: the agent's, else the one whose folder holds the working folder)")
}

// hubFolder holds the hub's own files.
func hubFolder() (string, error) {
	src, err := processSources()
	if err != nil {
		return "", err
	}
	return filepath.Join(src.Folders().Data, "hub"), nil
}

// trusted is c where `ca_file` counts beside the system's authorities, if the hub has a certificate at all.
func trusted(c *client.Client) (*client.Client, error) {
	if !strings.HasPrefix(c.URL(), "https:") {
		return c, nil
	}
	values, _, err := loadSettings()
	if err != nil {
		return nil, err
	}
	return trusting(c, values.CAFile)
}

// trusting is trusted where the settings are known.
func trusting(c *client.Client, caFile string) (*client.Client, error) {
	transport, err := pairing.NewTransport("", caFile)
	if err != nil {
		return nil, err
	}
	return c.Trusting(transport.TLS), nil
}

// proveAt has what listens at server prove that it is the hub of src's user, where that hub left an address that means the
// same; anything else is another server, and asked for nothing. Failures: HubUnreachable, HubNotOurs.
func proveAt(ctx context.Context, src settings.Sources, server, caFile string) error {
	hub, err := client.Local(filepath.Join(src.Folders().Data, "hub"))
	if err != nil || !sameDoor(hub.URL(), server) {
		return nil
	}
	if hub, err = trusting(hub.At(server), caFile); err != nil {
		return err
	}
	return hub.Prove(ctx)
}

// sameDoor reports whether two addresses lead to the same port of this machine or, by the same name, of another.
func sameDoor(one, other string) bool {
	a, err := url.Parse(one)
	b, otherErr := url.Parse(other)
	if err != nil || otherErr != nil || a.Scheme != b.Scheme || a.Port() != b.Port() {
		return false
	}
	usual := []string{"localhost", "127.0.0.1", "::1"}
	return a.Hostname() == b.Hostname() || slices.Contains(usual, a.Hostname()) && slices.Contains(usual, b.Hostname())
}

// client finds the hub and the token. What is not named is that of the hub on this machine.
func (f *hubFlags) client() (*client.Client, error) {
	address, token := f.url, os.Getenv(agentTokenVariable)
	if address == "" {
		address = os.Getenv(hubURLVariable)
	}
	if f.tokenFile != "" {
		raw, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return nil, usageError(failure.New(failure.Usage, "--token-file "+f.tokenFile).Because("the file can't be read: %v", err).Wrap(err))
		}
		token = strings.TrimSpace(string(raw))
	}
	if address != "" && token != "" {
		return trusted(client.New(address, token))
	}
	folder, err := hubFolder()
	if err != nil {
		return nil, err
	}
	local, err := client.Local(folder)
	if err == nil {
		local, err = trusted(local)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case address != "":
		// The owner's token is for this machine's hub and goes nowhere else.
		return nil, usageError(failure.New(failure.Usage, "--hub "+address).Because("a hub is named and no token for it").
			Then("name a file with one by --token-file"))
	case token != "":
		return local.WithToken(token), nil
	}
	return local, nil
}

// projectID finds the project that is meant.
func (f *hubFlags) projectID(ctx context.Context, c *client.Client) (string, error) {
	me, err := c.Me(ctx)
	if err != nil {
		return "", err
	}
	if me.Project != "" && (f.project == "" || f.project == me.Project) {
		return me.Project, nil
	}
	if me.Kind == "agent" {
		if f.project == "" {
			return "", failure.New(failure.ProjectUnclear, "project").Because("the agent %s may propose for several projects", me.ID)
		}
		return f.project, nil
	}
	projects, err := c.Projects(ctx)
	if err != nil {
		return "", err
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the working folder: %w", err)
	}
	return whichProject(projects, f.project, dir)
}

// projectFilter is the id of the only project that is asked about, or "" for all. What is neither an id nor a name is taken
// for the id of a project that was removed: its log stays.
func (f *hubFlags) projectFilter(ctx context.Context, c *client.Client) (string, error) {
	if f.project == "" {
		return "", nil
	}
	projects, err := c.Projects(ctx)
	if err != nil {
		return "", err
	}
	id, err := whichProject(projects, f.project, "")
	if err != nil && !slices.ContainsFunc(projects, func(p client.Project) bool { return p.Name == f.project }) {
		return f.project, nil
	}
	return id, err
}

// whichProject finds a project by its id or name, or, without one, by the folder that holds dir most closely.
func whichProject(projects []client.Project, wanted, dir string) (string, error) {
	found, depth := "", -1
	for _, p := range projects {
		switch {
		case wanted != "" && p.ID == wanted:
			return p.ID, nil
		case wanted != "" && p.Name == wanted:
			if found != "" {
				return "", failure.New(failure.ProjectUnclear, wanted).Because("more than one project has this name").
					Then("name it by its id, which `runner project list` shows")
			}
			found = p.ID
		case wanted == "" && p.Root != "":
			if rest, err := filepath.Rel(p.Root, dir); err == nil && filepath.IsLocal(rest) && len(p.Root) > depth {
				found, depth = p.ID, len(p.Root)
			}
		}
	}
	if found != "" {
		return found, nil
	}
	if wanted != "" {
		return "", failure.New(failure.ProjectUnclear, wanted).Because("no project has this id or name").
			Then("`runner project list` shows those that there are, `runner project add DIR` makes one")
	}
	return "", failure.New(failure.ProjectUnclear, dir).Because("the working folder lies in no project's folder")
}
