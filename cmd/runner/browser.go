package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"

	"brabo.dev/runner/runner/pairing"
)

// openBrowser shows the page of a login in the person's browser where there is one. That it can't be is no failure: the
// address has been printed.
func openBrowser(l pairing.Login) {
	address := l.FullAddress
	if address == "" {
		address = l.Address
	}
	words := browserCommand(address, os.Getenv)
	if len(words) == 0 {
		return
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return
	}
	cmd := exec.Command(path, words[1:]...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == "BRABO_ACCOUNT_TOKEN" || name == agentTokenVariable // secrets that are not the browser's
	})
	if cmd.Start() == nil {
		_ = cmd.Process.Release() // it lives on by itself
	}
}
