package workspace

// Case counts on the file systems that Linux usually has.
const (
	customaryFold = false
	refusalFold   = false
)

// systemExtra adds nothing: the common list was written for Linux.
var systemExtra []string
