package failure

// Names that concern terminals.
const (
	TerminalUnavailable Name = "terminal_unavailable"
	TerminalsDisabled   Name = "terminals_disabled"
	TerminalLimit       Name = "terminal_limit"
	TerminalExists      Name = "terminal_exists"
	TerminalInputFull   Name = "terminal_input_full"
	TerminalEnded       Name = "terminal_ended"
)

var terminalArea = map[Name]texts{
	TerminalUnavailable: {
		`the system gives no pseudo terminal`,
		`see whether /dev/ptmx and /dev/pts are there and whether other programs hold all terminals; then try again`},
	TerminalsDisabled: {
		`this machine opens no terminals`,
		"if you want them, set `terminals.enabled`, and see that the machine's policy does not forbid them"},
	TerminalLimit: {
		`this project has as many open terminals as it may`,
		"close one of them, or raise `terminals.max`"},
	TerminalExists: {
		`a terminal with this session reference is open already`,
		`open another one under a reference of its own`},
	TerminalInputFull: {
		`the program in the terminal does not read, and no more input is kept for it; what was typed or pasted since is lost`,
		`wait until the program reads again, or end it, then repeat the input`},
	TerminalEnded: {
		`the shell in the terminal ended`,
		`open a new terminal`},
}
