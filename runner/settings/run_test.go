package settings

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

const (
	goodToken = "brb_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
	goodKey   = `{"kty":"OKP","crv":"Ed25519","x":"eA","d":"ZA","kid":"k1"}`
)

// resolve loads the settings of src and resolves a run from them.
func resolve(t testing.TB, flags RunFlags, src Sources) (Run, error) {
	t.Helper()
	s, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	return ResolveRun(flags, src, s)
}

func pair(t testing.TB, dir string) {
	t.Helper()
	put(t, filepath.Join(dir, projectFileName), `{"projectId":"p-file","apiUrl":"https://file.example/"}`)
	put(t, filepath.Join(dir, keyFileName), goodKey)
}

func TestAFolderThatABrowserPairedIsEnough(t *testing.T) {
	src := someone(t)
	pair(t, src.WorkDir)
	r, err := resolve(t, RunFlags{}, src)
	if err != nil {
		t.Fatal(err)
	}
	want := Run{ProjectID: "p-file", Dir: src.WorkDir, APIURL: "https://file.example", KeyFile: filepath.Join(src.WorkDir, keyFileName),
		From: map[string]Origin{
			"project":  {FromProject, filepath.Join(src.WorkDir, projectFileName)},
			"dir":      {FromFolder, "the working folder"},
			"api-url":  {FromProject, filepath.Join(src.WorkDir, projectFileName)},
			"key-file": {FromFolder, filepath.Join(src.WorkDir, keyFileName)},
		}}
	if diff := cmp.Diff(want, r, cmp.AllowUnexported(Secret{})); diff != "" {
		t.Error(diff)
	}
}

func TestTheFolderOfAPackageManagerCounts(t *testing.T) {
	src := someone(t)
	dir := filepath.Join(src.WorkDir, "started-here")
	pair(t, dir)
	src.Environ = append(src.Environ, "INIT_CWD="+dir)
	r, err := resolve(t, RunFlags{Dir: "sub"}, src)
	if err != nil || r.ProjectID != "p-file" || r.Dir != filepath.Join(dir, "sub") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestTheProjectAndItsFolderHaveOneOrder(t *testing.T) {
	src := someone(t)
	pair(t, src.WorkDir)
	for _, tt := range []struct {
		flags        RunFlags
		project, dir string
	}{
		{RunFlags{Project: "p-flag", Dir: "/srv/shop"}, "p-flag", "/srv/shop"},
		{RunFlags{Project: "p-flag"}, "p-flag", src.WorkDir},
		{RunFlags{Dir: "shop"}, "p-file", filepath.Join(src.WorkDir, "shop")},
		{RunFlags{}, "p-file", src.WorkDir},
	} {
		r, err := resolve(t, tt.flags, src)
		if err != nil || r.ProjectID != tt.project || r.Dir != tt.dir || r.Machine() {
			t.Errorf("%+v: %+v, %v", tt.flags, r, err)
		}
	}
}

func TestTheServersAddressHasOneOrder(t *testing.T) {
	config := `{"api_url": "https://config.example"}`
	for _, tt := range []struct {
		name    string
		flags   RunFlags
		env     []string
		config  string
		project bool
		paired  string
		want    string
	}{
		{"the flag", RunFlags{APIURL: "https://flag.example/"}, []string{"BRABO_API_URL=https://brabo.example"}, config, true, "", "https://flag.example"},
		{"the existing client's variable", RunFlags{}, []string{"BRABO_API_URL=https://brabo.example", "RUNNER_API_URL=https://env.example"}, config, true, "", "https://brabo.example"},
		{"our variable", RunFlags{}, []string{"RUNNER_API_URL=https://env.example"}, config, true, "", "https://env.example"},
		{"the project file", RunFlags{}, nil, config, true, "https://paired.example", "https://file.example"},
		{"the settings file", RunFlags{Project: "p"}, nil, config, false, "https://paired.example", "https://config.example"},
		{"pairing", RunFlags{Project: "p"}, nil, "{}", false, "https://paired.example", "https://paired.example"},
		{"the contract's default", RunFlags{Project: "p", Token: goodToken}, nil, "{}", false, "", "http://localhost:3000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := withFile(t, someone(t, tt.env...), tt.config)
			src.Paired = Paired{APIURL: tt.paired}
			if tt.project {
				pair(t, src.WorkDir)
			}
			if tt.flags.Token == "" {
				put(t, filepath.Join(src.WorkDir, keyFileName), goodKey)
			}
			r, err := resolve(t, tt.flags, src)
			if err != nil || r.APIURL != tt.want {
				t.Errorf("%s from %s, %v; want %s", r.APIURL, r.From["api-url"], err, tt.want)
			}
		})
	}
}

func TestWithoutAServerTheNextStepNamesWhereToSayIt(t *testing.T) {
	_, err := resolve(t, RunFlags{Project: "p"}, someone(t))
	f := failuretest.Produced(t, err, failure.Usage)
	for _, want := range []string{"`runner login`", "`runner up`", "--api-url", "BRABO_API_URL", "api_url"} {
		if !strings.Contains(f.Next, want) {
			t.Errorf("the next step does not name %s: %s", want, f.Next)
		}
	}
}

func TestAPairingIsEnoughAndTheWeakest(t *testing.T) {
	src := someone(t)
	src.Paired = Paired{APIURL: "https://hub.example", KeyFile: filepath.Join(src.WorkDir, "pairing.json")}
	r, err := resolve(t, RunFlags{}, src)
	if err != nil || !r.Machine() || !r.Paired() || r.APIURL != "https://hub.example" || r.KeyFile != src.Paired.KeyFile || r.Base != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := resolve(t, RunFlags{Project: "p", APIURL: "https://hub.example/"}, src); err != nil || !r.Paired() {
		t.Errorf("the same server by a flag: %+v, %v", r, err)
	}
	_, err = resolve(t, RunFlags{Project: "p", APIURL: "https://other.example"}, src)
	f := failuretest.Produced(t, err, failure.CredentialMissing)
	if !strings.Contains(f.Cause, "https://hub.example") || !strings.Contains(f.Cause, "--api-url") {
		t.Errorf("the key would go to another server: %v", f)
	}
	r, err = resolve(t, RunFlags{Project: "p", Token: goodToken}, src)
	if err != nil || r.Paired() || r.APIURL != "https://hub.example" {
		t.Errorf("a token comes first: %+v, %v", r, err)
	}
	pair(t, src.WorkDir)
	if r, err := resolve(t, RunFlags{}, src); err != nil || r.Paired() || r.APIURL != "https://file.example" {
		t.Errorf("the folder's files come first: %+v, %v", r, err)
	}
}

func TestABadAddressIsNamedAfterItsPlace(t *testing.T) {
	src := someone(t, "BRABO_API_URL=brabo.example")
	_, err := resolve(t, RunFlags{Project: "p", Token: goodToken}, src)
	if f := failuretest.Produced(t, err, failure.SettingInvalid); f.Subject != "BRABO_API_URL" {
		t.Errorf("the subject is %s", f.Subject)
	}
}

func TestTheCredentialHasOneOrder(t *testing.T) {
	src := someone(t, "BRABO_ACCOUNT_TOKEN= "+goodToken+"-env\n")
	put(t, filepath.Join(src.WorkDir, keyFileName), goodKey)
	r, err := resolve(t, RunFlags{Project: "p", Token: goodToken + "-flag"}, src)
	if err != nil || r.Token.Reveal() != goodToken+"-flag" || r.KeyFile != "" || len(r.Warnings) != 1 {
		t.Errorf("the flag: %+v, %v", r, err)
	}
	r, err = resolve(t, RunFlags{Project: "p"}, src)
	if err != nil || r.Token.Reveal() != goodToken+"-env" || len(r.Warnings) != 0 {
		t.Errorf("the variable: %+v, %v", r, err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s %x %q", r, r, r, r.Token, r.Token, r.Token); strings.Contains(text, "brb_") {
		t.Errorf("the token shows in %s", text)
	}
}

func TestTheStatesOfTheKeyFileStayApart(t *testing.T) {
	for _, tt := range []struct{ name, content, says string }{
		{"no JSON", "{", "not a JSON object"},
		{"no object", "[1]", "not a JSON object"},
		{"null", "null", "not a JSON object"},
		{"no kid", `{"kty":"OKP","crv":"Ed25519","x":"eA","d":"ZA"}`, "no `kid`"},
		{"a kid that is no text", `{"kid":3}`, "no `kid`"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := someone(t)
			put(t, filepath.Join(src.WorkDir, keyFileName), tt.content)
			_, err := resolve(t, RunFlags{Project: "p"}, src)
			f := failuretest.Produced(t, err, failure.KeyFileInvalid)
			if !strings.Contains(f.Cause, tt.says) {
				t.Errorf("the cause does not say %q: %s", tt.says, f.Cause)
			}
			if _, err := resolve(t, RunFlags{Project: "p", Token: goodToken}, src); err != nil {
				t.Errorf("with a token the file does not matter: %v", err)
			}
		})
	}
	t.Run("absent", func(t *testing.T) {
		_, err := resolve(t, RunFlags{Project: "p", APIURL: "https://x.example"}, someone(t))
		failuretest.Produced(t, err, failure.CredentialMissing)
	})
}

func TestATokenOfTheWrongFormIsRefusedUnseen(t *testing.T) {
	for _, token := range []string{"ghp_0123456789abcdefghij", "brb_short", "brb_0123456789 abcdefghij", "brb_0123456789\x00abcdefghij"} {
		_, err := resolve(t, RunFlags{Project: "p", Token: token}, someone(t))
		f := failuretest.Produced(t, err, failure.CredentialInvalid)
		if strings.Contains(f.Error(), token) {
			t.Errorf("the token shows: %v", f)
		}
	}
}

func TestTheBaseHasOneOrder(t *testing.T) {
	src := someone(t)
	put(t, src.baseFilePath(), `{"base": " /srv/from-installer "}`)
	with := func(flags RunFlags, config string, env ...string) Run {
		t.Helper()
		src := withFile(t, src, config)
		src.Environ = append(env, src.Environ...)
		flags.Token, flags.APIURL = goodToken, "https://x.example"
		r, err := resolve(t, flags, src)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if got := with(RunFlags{Base: "/srv/flag"}, `{"base": "/srv/file"}`, "RUNNER_BASE=/srv/env").Base; got != "/srv/flag" {
		t.Error(got)
	}
	if got := with(RunFlags{}, `{"base": "/srv/file"}`, "RUNNER_BASE=/srv/env").Base; got != "/srv/env" {
		t.Error(got)
	}
	if got := with(RunFlags{}, `{"base": "/srv/file/"}`).Base; got != "/srv/file" {
		t.Error(got)
	}
	r := with(RunFlags{}, `{}`, "BRABO_PROJECTS_BASE=/srv/of-the-server")
	if r.Base != "/srv/from-installer" || !r.Machine() || r.Dir != "" {
		t.Errorf("%+v", r)
	}
}

func TestABadBaseStopsAMachineAndWarnsAProject(t *testing.T) {
	for _, content := range []string{"{", `{"base": "relative"}`, `{"base": "/"}`, `{"base": "/a/../b"}`} {
		src := someone(t)
		put(t, src.baseFilePath(), content)
		flags := RunFlags{Token: goodToken}
		_, err := resolve(t, flags, src)
		failuretest.Produced(t, err, failure.SettingInvalid)
		flags.Project = "p"
		r, err := resolve(t, flags, src)
		if err != nil || r.Base != "" || len(r.Warnings) != 2 {
			t.Errorf("%s: %+v, %v", content, r, err)
		}
		flags.Base = "relative"
		_, err = resolve(t, flags, src)
		failuretest.Produced(t, err, failure.SettingInvalid)
	}
	src := someone(t)
	put(t, src.baseFilePath(), `{"other": 1}`)
	_, err := resolve(t, RunFlags{Token: goodToken}, src)
	failuretest.Produced(t, err, failure.Usage)
}

func TestTheHomeFolderIsNoProjectUnlessAllowed(t *testing.T) {
	src := someone(t)
	flags := RunFlags{Project: "p", Token: goodToken, Dir: src.Folders().Home}
	_, err := resolve(t, flags, src)
	failuretest.Produced(t, err, failure.HomeAsRoot)
	src.Environ = append(src.Environ, "RUNNER_ALLOW_HOME_ROOT=true")
	if _, err := resolve(t, flags, src); err != nil {
		t.Error(err)
	}
}

func TestIncompleteProjectFilesCountAsNone(t *testing.T) {
	for _, content := range []string{"", "{", "[]", `{"projectId":"p"}`, `{"projectId":"","apiUrl":"https://x"}`, `{"projectId":3,"apiUrl":"https://x"}`} {
		src := someone(t)
		put(t, filepath.Join(src.WorkDir, projectFileName), content)
		r, err := resolve(t, RunFlags{Token: goodToken, Base: src.WorkDir}, src)
		if err != nil || !r.Machine() {
			t.Errorf("%q: %+v, %v", content, r, err)
		}
	}
}
