package runner

import "os"

// ownedByUs has nothing to look at where files have no owner's number.
func ownedByUs(os.FileInfo) bool { return true }
