package workspace

import "io/fs"

// facts are what tells whether a file has been touched. What this system tells of a file by its name holds no change
// time, so there are none.
type facts struct{ changed int64 }

func factsOf(fs.FileInfo) (facts, bool) { return facts{}, false }
