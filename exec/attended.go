package exec

// attended is a family whose shell is waited for. Its owner's goroutine alone calls its methods.
type attended struct {
	family *family

	ended     chan struct{} // closed when the shell has ended
	collected bool          // the shell's end was taken notice of
	verdict   chan bool     // tells the waiting goroutine whether the shell is left to it
	waiter    chan struct{} // closed when the waiting goroutine is gone
}

// attend starts the goroutine that waits for the shell. A shell that its owner had to give up is left to it.
func attend(f *family) attended {
	a := attended{family: f, ended: make(chan struct{}), verdict: make(chan bool, 1), waiter: make(chan struct{})}
	go func() {
		defer close(a.waiter)
		f.await()
		close(a.ended)
		if left := <-a.verdict; left {
			f.release()
		}
	}()
	return a
}

// shellGone tells whether the shell itself has ended, and takes notice of it once.
func (a *attended) shellGone() bool {
	if !a.collected && isClosed(a.ended) {
		a.collected = true
		a.family.shellEnded()
	}
	return a.collected
}

// dismiss closes the account of the family: the shell's exit code, or -1 and the signal that ended it; how many
// processes outlived the shell and were ended, and how many could not be.
func (a *attended) dismiss() (code int, signal string, left, survivors int) {
	if !a.shellGone() {
		a.family.tidy()
		a.verdict <- true
		return -1, "", 0, 1
	}
	left, survivors = a.family.release()
	code, signal = a.family.exit()
	a.family.tidy()
	a.verdict <- false
	<-a.waiter
	return code, signal, left, survivors
}
