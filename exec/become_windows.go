package exec

// Become has no part here: nothing confines commands, and limits are not set. It gives an exit code.
func Become([]string) int { return 126 }
