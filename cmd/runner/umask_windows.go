package main

// currentUmask is the zero that Windows has.
func currentUmask() uint32 { return 0 }
