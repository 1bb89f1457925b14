package main

// browserCommand opens an address on the desktop; none in a session from elsewhere.
func browserCommand(address string, getenv func(string) string) []string {
	if getenv("SSH_CONNECTION") != "" {
		return nil
	}
	return []string{"open", address}
}
