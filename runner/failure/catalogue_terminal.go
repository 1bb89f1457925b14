package failure

// Names that concern terminals.
const ()

var terminalArea = map[Name]texts{}
