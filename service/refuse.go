package service

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// Request is what an installation is asked for, beside the definition itself.
type Request struct {
	Definition
	// APIURL is the server of a daemon, "" for the hub.
	APIURL string
	// Credential says why the service would find neither key nor server nor base, as its own start would say it; nil
	// where it would.
	Credential *failure.Failure
	// ProjectFile is the path of a brabo-runner.config.json in the folder, "" where there is none.
	ProjectFile string
}

// Refusals gives everything that stands against installing r, in the order of section 8 of the protocol's
// description; none where nothing does.
func (h Host) Refusals(r Request) []*failure.Failure {
	var all []*failure.Failure
	add := func(f *failure.Failure) {
		if f != nil {
			all = append(all, f)
		}
	}
	add(failure.As(r.Check()))
	add(h.refuseAccount(r.Definition))
	add(h.refuseOtherKind(r.ID))
	add(h.refuseExisting(r))
	add(r.Credential)
	all = append(all, refusePaths(r)...)
	add(h.refuseFolder(r))
	if r.Kind == Machine && r.ProjectFile != "" {
		add(failure.New(failure.ServiceProjectFile, r.ProjectFile))
	}
	return all
}

// refuseAccount keeps root from running what agents propose.
func (h Host) refuseAccount(d Definition) *failure.Failure {
	switch {
	case !d.System && h.System == "windows":
		return failure.New(failure.ServiceAccount, "--user").
			Because("Windows has no services of a single user").
			Then("install it with `--system --as-user NAME`; it then runs as that account")
	case !d.System && h.UID == 0:
		return failure.New(failure.ServiceRoot, "root")
	case !d.System:
		return nil
	case d.User == "":
		return failure.New(failure.ServiceAccount, "--as-user").
			Because("a service of the system runs as a named account, and none was named").
			Then("name the person whose projects it serves: `--as-user NAME`")
	case h.System != "windows" && h.UID > 0:
		return failure.New(failure.ServiceAccount, "--system").
			Because("only root may install services of the system").
			Then("run the same command with sudo, or leave `--system` out")
	}
	account, err := user.Lookup(d.User)
	if err != nil {
		return failure.New(failure.ServiceAccount, d.User).
			Because("there is no such account on this machine").Then("check `--as-user`").Wrap(err)
	}
	if account.Uid == "0" || account.Uid == "S-1-5-18" {
		return failure.New(failure.ServiceAccount, d.User).
			Because("commands of agents must not run as root").
			Then("name the person whose projects it serves: `--as-user NAME`")
	}
	return nil
}

// refuseOtherKind keeps a machine's daemon and a project's apart: both would serve the same project.
func (h Host) refuseOtherKind(id ID) *failure.Failure {
	if id.Kind == Hub {
		return nil
	}
	for _, system := range []bool{false, true} {
		for _, other := range h.Installed(system) {
			if other.Kind != Hub && other.Kind != id.Kind {
				return failure.New(failure.ServiceOtherKind, h.Path(other.ID)).
					Because("%s is installed, and both would serve the same project", other.ID)
			}
		}
	}
	return nil
}

func (h Host) refuseExisting(r Request) *failure.Failure {
	if r.Kind == Hub {
		return nil
	}
	return h.Rival(r.Project, r.APIURL)
}

// Rival gives ServiceExistingClient where an installed service of the existing client serves project, "" for all, at the
// server apiURL, too; nil where none does. The server would reject one of the two.
func (h Host) Rival(project, apiURL string) *failure.Failure {
	for _, e := range h.Existing() {
		if e.Meets(project, apiURL) {
			return failure.New(failure.ServiceExistingClient, e.String())
		}
	}
	return nil
}

// refusePaths refuses what could be read as more than one word, or as another line, of a unit.
func refusePaths(r Request) []*failure.Failure {
	var all []*failure.Failure
	for _, path := range slices.Compact([]string{r.Program, r.Folder}) {
		if strings.ContainsFunc(path, control) || strings.ContainsAny(path, `"'`) {
			all = append(all, failure.New(failure.ServicePath, path))
		}
	}
	if strings.ContainsAny(r.APIURL, " \t\r\n") {
		all = append(all, failure.New(failure.ServicePath, r.APIURL).
			Because("the server's address holds white space").Then("correct `--api-url`"))
	}
	return all
}

// refuseFolder keeps a Linux user's service at home: elsewhere it may not be mounted when the service starts.
func (h Host) refuseFolder(r Request) *failure.Failure {
	rel, err := filepath.Rel(h.Home, r.Folder)
	if h.System == "linux" && (err != nil || !filepath.IsLocal(rel)) {
		return failure.New(failure.ServiceFolder, r.Folder)
	}
	// Without a credential a missing folder is no news: the credential would lie in it.
	if info, err := os.Stat(r.Folder); r.Credential == nil && (err != nil || !info.IsDir()) {
		return failure.New(failure.ServiceFolder, r.Folder).
			Because("there is no such folder").Then("make it, or name another by `--dir`")
	}
	return nil
}
