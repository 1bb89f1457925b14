//go:build unix

package workspace

import (
	"slices"
	"syscall"
)

// volumeForm has nothing to say about paths without volumes.
func volumeForm(string) string { return "" }

// drivesTop: there is nothing above the file system's own top.
func drivesTop(string) bool { return false }

// openWithoutWaiting is for a file that may have become a pipe since it was looked at.
const openWithoutWaiting = syscall.O_NONBLOCK

// rootsHome is the home of the one user who lives in a folder of the system's own.
const rootsHome = "/root"

// homesAmongSystem are the folders of the system in which users' homes lie on some systems.
var homesAmongSystem = []string{rootsHome, "/var", "/data"}

// systemFolderOf gives the folder of the system that p is or lies in, or nothing: those of policy.md section 9 and of
// protocol.md 7.1.5, and what this system adds.
func systemFolderOf(p string) string {
	for _, dir := range slices.Concat(serverRefuses, []string{"/lib32"}, systemExtra) {
		if _, ok := rest(dir, p, refusalFold); ok {
			return dir
		}
	}
	return ""
}
