// Package service makes the daemon and the hub services of the operating system: systemd units of a user or of the
// system, launchd agents and daemons, Windows services.
//
// A Definition says what is to run. Unit renders it as the text that the system's manager reads, without looking at
// the machine, so that every system's form is tested on every system; Refusals says what stands against it; Install and
// its siblings put it into place. What a unit was made from is recorded in the unit itself, so that it can be read back
// with Installed: the unit is the only state this package has.
//
// kardianos/service registers and runs the Windows service, and says which init a Linux without systemd has. Its
// systemd and launchd halves drop what the manager says when it refuses, look for user units in ~/.config alone, never
// replace a unit and use launchd's old verbs; there the few calls of systemctl and launchctl are made here, and their
// words end in the failure.
//
// The package starts no goroutines. The rules come from section 8 of the protocol's description.
package service
