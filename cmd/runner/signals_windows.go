package main

import "os"

// stopSignals are the signals that ask for an orderly stop; a console's Ctrl-C and close arrive as Interrupt.
func stopSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// endBy ends this process as the signal does by default.
func endBy(os.Signal) { os.Exit(exitFail) }
