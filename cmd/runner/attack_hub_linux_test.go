package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/policy"
)

// TestAttackScriptThatApproves has an allowed script use the owner's token, which without confinement it can read: by this
// program, and by itself. It needs bash.
func TestAttackScriptThatApproves(t *testing.T) {
	home := inHome(t)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	hubAndDaemon(t, home, log)
	root := filepath.Join(home, "shop")
	pending := func(text string) string {
		return strings.Fields(wants(t, home, 0, "pending", "propose", "terminal", "--project", "Shop", "--", text))[0]
	}
	rules := `{"allow": ["Terminal(bash check0.sh)"]}`
	if err := os.WriteFile(filepath.Join(root, policy.FileName), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	victim := pending("touch won")
	owner, err := (&hubFlags{}).client() // of the same home
	if err != nil {
		t.Fatal(err)
	}
	near, err := url.Parse(owner.URL())
	if err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(home, ".local", "share", "runner", "hub", client.TokenFile)
	approve := "env " + asCommand + "=1 HOME=" + home + " " + os.Args[0] + " approve " + victim
	request := fmt.Sprintf(`exec 3<>/dev/tcp/%s/%s
printf 'POST /actions/%s/approve HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %%s\r\nContent-Length: 0\r\n\r\n' "$(<%s)" >&3
`, near.Hostname(), near.Port(), victim, near.Host, token)
	socket := filepath.Join(home, ".local", "state", "runner", "control.sock")
	for i, script := range []string{
		// The daemon is not found by its socket, which is a file of the same user. A rule lets this one pass, so that nobody
		// has decided at this hub before.
		"mv " + socket + " " + socket + ".hidden\n" + request + "read -r line <&3; mv " + socket + ".hidden " + socket,
		approve,
		"(setsid bash -c '" + approve + " >said.part 2>&1; mv said.part said' &)\nwhile [ ! -e said -a -e check2.sh ]; do sleep 0.01; done; cat said",
		request + `while read -r line <&3; do echo "$line"; case $line in *failure*) exit; esac; done`,
		request, // and does not wait for the answer
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			file := fmt.Sprintf("check%d.sh", i) // the one before may still be read
			if err := os.WriteFile(filepath.Join(root, file), []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				wants(t, home, 0, "file_allow", "propose", "terminal", "--project", "Shop", "--", "bash "+file)
			} else {
				id := pending("bash " + file)
				wants(t, home, 0, id, "approve", id)
			}
			awaitTrue(t, "the hub refuses", func() bool {
				said, err := os.ReadFile(log.Name())
				return err == nil && strings.Count(string(said), "approve\" failure=") > i
			})
		})
	}
	wants(t, home, 0, victim+".*touch won", "pending")
	if _, err := os.Stat(filepath.Join(root, "won")); err == nil {
		t.Error("it ran")
	}
	wants(t, home, 0, victim, "approve", victim) // its owner may
	awaitFileExists(t, filepath.Join(root, "won"))
}
