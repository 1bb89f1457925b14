package main

// browserCommand opens an address on the desktop; none where there is no desktop.
func browserCommand(address string, getenv func(string) string) []string {
	if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	return []string{"xdg-open", address}
}
