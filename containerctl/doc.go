// Package containerctl keeps one container a project: it starts, stops, removes and inspects it, and runs commands
// and terminals inside it, through the Docker Engine API of Docker or Podman (protocol.md 4.1 and 4.4).
//
// Nothing is remembered here about containers: each answer is asked of the engine, by name and by the label
// brabo.managed, so that a daemon that was restarted, a container that died and a person with a command line of
// their own never leave this package with a wrong belief. What a project may have is all that Spec can say: there
// is no field for a second mount, the host's network or a privilege.
//
// An Engine owns the goroutines of its image pulls, which outlive the Start that began them, and those that read
// from its workers, the shells inside that wait for commands; Close ends and awaits them. Exec awaits its own before
// it returns. A Terminal's goroutine ends with the context that it was opened with, and Close awaits it. Nothing is
// written to disk.
package containerctl
