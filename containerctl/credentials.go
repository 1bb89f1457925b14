package containerctl

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/distribution/reference"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/registry"
)

// credentials finds what `docker login` has stored for a registry, so that the daemon may pull what the person may.
type credentials struct {
	dir     string   // of docker's config.json, or ""
	environ []string // for credential helpers
}

// dockerHub is the key under which docker keeps the login for its own registry.
const dockerHub = "https://index.docker.io/v1/"

// helperTime bounds one question to a credential helper.
const helperTime = 5 * time.Second

// forImage gives the encoded credential for the image's registry, "" where there is none. A store that can't be
// read counts as none: the registry then says whether one is needed.
func (c credentials) forImage(ctx context.Context, image string) string {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil || c.dir == "" {
		return ""
	}
	host := reference.Domain(named)
	if host == "docker.io" {
		host = dockerHub
	}
	auth, ok := c.lookup(ctx, host)
	if !ok {
		return ""
	}
	auth.ServerAddress = host
	encoded, err := authconfig.Encode(auth)
	if err != nil {
		return ""
	}
	return encoded
}

func (c credentials) lookup(ctx context.Context, host string) (registry.AuthConfig, bool) {
	b, err := os.ReadFile(filepath.Join(c.dir, "config.json"))
	if err != nil {
		return registry.AuthConfig{}, false
	}
	var config struct {
		Auths       map[string]struct{ Auth, IdentityToken string }
		CredsStore  string
		CredHelpers map[string]string
	}
	if json.Unmarshal(b, &config) != nil {
		return registry.AuthConfig{}, false
	}
	helper := config.CredHelpers[host]
	if helper == "" {
		helper = config.CredsStore
	}
	if helper != "" {
		if auth, ok := c.askHelper(ctx, helper, host); ok {
			return auth, true
		}
	}
	for _, key := range []string{host, "https://" + host, "https://" + host + "/v1/"} {
		stored, ok := config.Auths[key]
		if !ok {
			continue
		}
		plain, err := base64.StdEncoding.DecodeString(stored.Auth)
		user, password, colon := strings.Cut(string(plain), ":")
		if err != nil || !colon {
			continue
		}
		return registry.AuthConfig{Username: user, Password: strings.TrimRight(password, "\x00"), IdentityToken: stored.IdentityToken}, true
	}
	return registry.AuthConfig{}, false
}

// askHelper asks docker-credential-NAME, which speaks over its standard streams only.
func (c credentials) askHelper(ctx context.Context, name, host string) (registry.AuthConfig, bool) {
	program := programIn(c.environ, "docker-credential-"+filepath.Base(name))
	if program == "" {
		return registry.AuthConfig{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "get")
	cmd.Env = c.environ
	cmd.Stdin = strings.NewReader(host)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	var got struct{ Username, Secret string }
	if cmd.Run() != nil || json.Unmarshal(out.Bytes(), &got) != nil || got.Secret == "" {
		return registry.AuthConfig{}, false
	}
	if got.Username == "<token>" {
		return registry.AuthConfig{IdentityToken: got.Secret}, true
	}
	return registry.AuthConfig{Username: got.Username, Password: got.Secret}, true
}
