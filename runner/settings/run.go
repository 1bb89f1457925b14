package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// existingDefault is where the existing client looks for its server when nothing says otherwise.
const existingDefault = "http://localhost:3000"

// RunFlags are the flags of `run`; an empty one was not given.
type RunFlags struct {
	Project, Dir, Token, APIURL, Base string
}

// Run is what one `run` is about, with the origin of each value in From under the names of its flags: project, dir,
// api-url, base, token, key-file.
type Run struct {
	ProjectID string // "" in machine mode, where the server lists the projects
	Dir       string // the project's folder, absolute; "" in machine mode
	APIURL    string // without a trailing slash
	Token     Secret // a personal access token; zero when KeyFile is the credential
	KeyFile   string // the file of the device key; "" when Token is the credential
	Base      string // where project folders are made, absolute; "" is no base
	From      map[string]Origin
	// Warnings are for the person and stop nothing.
	Warnings []string
}

// Machine reports whether the run serves every project of its key.
func (r Run) Machine() bool { return r.ProjectID == "" }

// ResolveRun finds out what one `run` is about from flags, environment, the compatibility files and s, in the order
// of protocol.md 2.2 and of `api_url` and `base` in settings.md. Its failures are wrong use of the command line:
// Usage, SettingInvalid, CredentialMissing, CredentialInvalid, KeyFileInvalid, HomeAsRoot.
func ResolveRun(flags RunFlags, src Sources, s Settings) (Run, error) {
	r := Run{From: map[string]Origin{}}
	project, _ := readProjectFile(src.EffectiveDir())
	r.resolveProject(flags, project)
	if err := r.resolveDir(flags, src, s); err != nil {
		return Run{}, err
	}
	if err := r.resolveCredential(flags, src); err != nil {
		return Run{}, err
	}
	if err := r.resolveAPIURL(flags, src, s, project); err != nil {
		return Run{}, err
	}
	if err := r.pairedElsewhere(src); err != nil {
		return Run{}, err
	}
	if r.Token.IsZero() && r.KeyFile == "" {
		return Run{}, failure.New(failure.CredentialMissing, src.EffectiveDir())
	}
	if err := r.resolveBase(flags, src, s); err != nil {
		return Run{}, err
	}
	return r, nil
}

func (r *Run) resolveProject(flags RunFlags, file projectFile) {
	switch {
	case flags.Project != "":
		r.ProjectID, r.From["project"] = flags.Project, Origin{FromFlag, "--project"}
	case file.projectID != "":
		r.ProjectID, r.From["project"] = file.projectID, Origin{FromProject, file.path}
	}
}

func (r *Run) resolveDir(flags RunFlags, src Sources, s Settings) error {
	if r.Machine() {
		if flags.Dir != "" {
			r.Warnings = append(r.Warnings, "--dir counts for one project only; without --project the folders lie below the base")
		}
		return nil
	}
	r.Dir, r.From["dir"] = src.EffectiveDir(), Origin{FromFolder, "the working folder"}
	if flags.Dir != "" {
		r.Dir, r.From["dir"] = flags.Dir, Origin{FromFlag, "--dir"}
		if !filepath.IsAbs(r.Dir) {
			r.Dir = filepath.Join(src.EffectiveDir(), r.Dir)
		}
	}
	r.Dir = filepath.Clean(r.Dir)
	if home := src.Folders().Home; r.Dir == home && !s.AllowHomeRoot {
		return failure.New(failure.HomeAsRoot, r.Dir+" (from "+r.From["dir"].String()+")").
			Then("move the project into a folder of its own, %s for instance, or set `allow_home_root`",
				filepath.Join(home, "project"))
	}
	return nil
}

func (r *Run) resolveCredential(flags RunFlags, src Sources) error {
	token, from := strings.TrimSpace(src.env().get("BRABO_ACCOUNT_TOKEN")), Origin{FromEnvironment, "BRABO_ACCOUNT_TOKEN"}
	if flags.Token != "" {
		token, from = strings.TrimSpace(flags.Token), Origin{FromFlag, "--token"}
		r.Warnings = append(r.Warnings, "other users of this machine can read a token on the command line; BRABO_ACCOUNT_TOKEN or a device key keeps it to yourself")
	}
	if token != "" {
		if !TokenForm(token) {
			return failure.New(failure.CredentialInvalid, from.Name)
		}
		r.Token, r.From["token"] = NewSecret(token), from
		return nil
	}
	path := src.KeyFile()
	present, err := keyFileState(path)
	switch {
	case err != nil:
		return err
	case present:
		r.KeyFile, r.From["key-file"] = path, Origin{FromFolder, path}
	case src.Paired.KeyFile != "":
		r.KeyFile, r.From["key-file"] = src.Paired.KeyFile, Origin{FromPairing, src.Paired.KeyFile}
	}
	return nil
}

// Paired reports whether the credential is the key of this machine's own pairing.
func (r Run) Paired() bool { return r.From["key-file"].Kind == FromPairing }

// pairedElsewhere refuses to show the pairing's key to another server than the one that it was made for.
func (r *Run) pairedElsewhere(src Sources) error {
	if !r.Paired() || r.APIURL == strings.TrimRight(src.Paired.APIURL, "/") {
		return nil
	}
	return failure.New(failure.CredentialMissing, r.APIURL).
		Because("this machine is paired with %s, and %s names another server", src.Paired.APIURL, r.From["api-url"]).
		Then("take the other address out, or pair with it: `runner login %s`", r.APIURL)
}

// TokenForm reports whether text has the form of a project token, the local check of protocol.md 1.3: white space inside
// can only be a slip of copying.
func TokenForm(token string) bool {
	return strings.HasPrefix(token, "brb_") && len(token) >= 20 &&
		!strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c >= 0x7f })
}

func (r *Run) resolveAPIURL(flags RunFlags, src Sources, s Settings, project projectFile) error {
	set := s.Origin("api_url")
	candidates := []struct {
		url  string
		from Origin
	}{
		{flags.APIURL, Origin{FromFlag, "--api-url"}},
		{when(set.Kind == FromFlag, s.APIURL), set},
		{src.env().get("BRABO_API_URL"), Origin{FromEnvironment, "BRABO_API_URL"}},
		{when(set.Kind == FromEnvironment, s.APIURL), set},
		{when(!r.Machine(), project.apiURL), Origin{FromProject, project.path}},
		{when(set.Kind == FromFile, s.APIURL), set},
		{src.Paired.APIURL, Origin{FromPairing, "pairing"}},
		{when(!r.Token.IsZero() || r.From["key-file"].Kind == FromFolder, existingDefault), Origin{Kind: FromDefault}},
	}
	for _, c := range candidates {
		if c.url == "" {
			continue
		}
		if err := apiURL(c.url); err != nil {
			return failure.New(failure.SettingInvalid, c.from.String()).
				Because("the value is no server's address: %v", err).
				Then("give an address such as https://brabo.example").Wrap(err)
		}
		r.APIURL, r.From["api-url"] = strings.TrimRight(c.url, "/"), c.from
		return nil
	}
	return failure.New(failure.Usage, "api_url").
		Because("nothing says which server to connect to").
		Then("pair this machine with a server by `runner login`, or with a hub of its own by `runner up`; or name a server by `--api-url`, BRABO_API_URL or the setting `api_url`")
}

func when(yes bool, s string) string {
	if yes {
		return s
	}
	return ""
}

func (r *Run) resolveBase(flags RunFlags, src Sources, s Settings) error {
	base, from := flags.Base, Origin{FromFlag, "--base"}
	if base == "" {
		base, from = s.Base, s.Origin("base")
	}
	var err error
	if base == "" {
		from = Origin{FromBase, src.baseFilePath()}
		base, err = readBaseFile(from.Name)
	}
	if err == nil && base != "" {
		err = baseForm(base, from)
	}
	if err != nil {
		if from.Kind != FromBase || r.Machine() {
			return err
		}
		r.Warnings = append(r.Warnings, "no project folders will be made here: "+err.Error())
		return nil
	}
	if base == "" && r.Machine() && !r.Paired() { // a hub names the folders itself
		return failure.New(failure.Usage, "base").
			Because("neither a project nor a base is given, so there is nothing to serve").
			Then("name a project by `--project`, or the folder of all projects by `--base`")
	}
	if base != "" {
		r.Base, r.From["base"] = filepath.Clean(base), from
	}
	return nil
}

// baseForm checks what protocol.md 7.4 demands of a base's text, and that no file is in the way.
func baseForm(base string, from Origin) error {
	f := failure.New(failure.SettingInvalid, from.String()).Then("name an absolute folder for projects")
	if err := absolute(base); err != nil {
		return f.Because("the base %q can't be used: %v", base, err)
	}
	base = filepath.Clean(base)
	if filepath.Dir(base) == base {
		return f.Because("the base is the top of the file system")
	}
	if info, err := os.Stat(base); err == nil && !info.IsDir() {
		return f.Because("the base %s is a file", base)
	}
	return nil
}

// Origins lists what came from where, one line a value, for `run` to print.
func (r Run) Origins() []string {
	var lines []string
	for name, from := range r.From {
		lines = append(lines, name+": "+from.String())
	}
	slices.Sort(lines)
	return lines
}
