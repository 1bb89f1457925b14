//go:build unix

package exec

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// LoginShell gives the path of the user's login shell: the one that the account names, else $SHELL, else what
// FindShell finds. An account that must not log in names a program that is no shell, which counts as none: whoever may
// run commands here as this user has been let in already. inherited is this process's environment.
func LoginShell(inherited []string) (string, error) {
	var candidates []string
	if accounts, err := os.Open("/etc/passwd"); err == nil {
		candidates = append(candidates, shellOf(accounts, os.Getuid()))
		accounts.Close()
	}
	for _, pair := range inherited {
		if shell, ok := strings.CutPrefix(pair, "SHELL="); ok {
			candidates = append(candidates, shell)
		}
	}
	candidates = slices.DeleteFunc(candidates, isNoShell)
	if path, ok := firstProgram(candidates); ok {
		return path, nil
	}
	shell, err := systemShell()
	return shell.Path, err
}

func isNoShell(path string) bool {
	return slices.Contains([]string{"nologin", "false", "true", "sync"}, filepath.Base(path))
}

// shellOf reads the shell of a user from accounts in the form of passwd(5); "" where there is none.
func shellOf(accounts io.Reader, uid int) string {
	for lines := bufio.NewScanner(accounts); lines.Scan(); {
		if fields := strings.Split(lines.Text(), ":"); len(fields) == 7 && fields[2] == strconv.Itoa(uid) {
			return fields[6]
		}
	}
	return ""
}
