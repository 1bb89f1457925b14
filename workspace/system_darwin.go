package workspace

// The usual file system ignores case, but paths are written with it; so a refusal ignores case and a permission does
// not.
const (
	customaryFold = false
	refusalFold   = true
)

// systemExtra is what macOS has beside the common list; /etc and /var are links into /private.
var systemExtra = []string{"/System", "/Library", "/Applications", "/cores", "/private/etc", "/private/var"}
