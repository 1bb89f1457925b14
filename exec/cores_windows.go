package exec

// DropCores does nothing: Windows writes no core files.
func DropCores() error { return nil }
