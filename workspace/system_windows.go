package workspace

import (
	"path/filepath"
	"strings"
)

// Case never counts by custom.
const (
	customaryFold = true
	refusalFold   = true
)

// rootsHome has no counterpart: no user lives in a folder of the system's own.
const rootsHome = ""

var homesAmongSystem []string

// systemNames are the folders of the system at the top of a drive.
var systemNames = []string{"Windows", "Program Files", "Program Files (x86)", "ProgramData", "Recovery", "$Recycle.Bin",
	"System Volume Information"}

// volumeForm refuses device paths, which reach around every comparison, and segments that name a device or a stream
// of a file.
func volumeForm(p string) string {
	volume := filepath.VolumeName(p)
	if strings.HasPrefix(volume, `\\?\`) || strings.HasPrefix(volume, `\\.\`) || strings.HasPrefix(volume, `\??\`) {
		return "the path is a device path"
	}
	tail := strings.Join(segments(p[len(volume):]), `\`)
	if tail != "" && !filepath.IsLocal(tail) || strings.Contains(tail, ":") {
		return "the path names a device or a stream"
	}
	return ""
}

// drivesTop reports whether p stands for what is above the drives.
func drivesTop(p string) bool { return p == "/" || p == `\` }

// openWithoutWaiting: a pipe has no name among the files here.
const openWithoutWaiting = 0

// systemFolderOf gives the folder of the system that p is or lies in, or nothing.
func systemFolderOf(p string) string {
	top := filepath.VolumeName(p) + `\`
	for _, name := range systemNames {
		if _, ok := rest(top+name, p, refusalFold); ok {
			return top + name
		}
	}
	return ""
}
