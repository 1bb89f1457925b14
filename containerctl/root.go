package containerctl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// systemFolders are the first segments below which no mount source may lie (protocol.md 7.1, rule 5).
var systemFolders = []string{
	"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "root", "run", "sbin", "sys", "usr", "var",
}

// checkRoot applies protocol.md 7.1, rule 5, to the folder that is to be mounted, which has to be there.
func checkRoot(root string) error {
	refuse := func(why string) error {
		return failure.New(failure.ContainerRoot, root).Because("%s", why)
	}
	switch {
	case root == "":
		return failure.New(failure.ContainerRoot, "project folder").Because("no folder was given")
	case strings.ContainsRune(root, 0):
		return refuse("its path holds a NUL character")
	case !filepath.IsAbs(root):
		return refuse("its path is not absolute")
	case slices.Contains(strings.Split(filepath.ToSlash(root), "/"), ".."):
		return refuse("its path holds a `..` component")
	}
	clean := filepath.ToSlash(filepath.Clean(root))
	if clean == "/" || filepath.VolumeName(root) == filepath.Clean(strings.TrimRight(root, `\/`)) {
		return refuse("it is the root of the file system")
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(clean, "/"), "/")
	if slices.Contains(systemFolders, first) {
		return refuse("it lies in the system folder /" + first)
	}
	// Some engines would make a folder that is missing, as root.
	info, err := os.Stat(root)
	if err != nil {
		return failure.New(failure.ContainerRoot, root).Because("it can't be looked at").Wrap(err)
	}
	if !info.IsDir() {
		return refuse("it is no folder")
	}
	return nil
}
