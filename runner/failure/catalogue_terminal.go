package failure

// Names that concern terminals.
const (
	TerminalUnavailable Name = "terminal_unavailable"
)

var terminalArea = map[Name]texts{
	TerminalUnavailable: {
		`the system gives no pseudo terminal`,
		`see whether /dev/ptmx and /dev/pts are there and whether other programs hold all terminals; then try again`},
}
