package failure

// Names that concern the daemon as a process: its local socket, its readiness, its drain.
const ()

var daemonArea = map[Name]texts{}
