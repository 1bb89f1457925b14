package main

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
)

// hubCertificate is what the hub shows to prove its name. It is read again when one of its files has changed, so that a
// renewed one needs no restart.
type hubCertificate struct {
	files [2]string // the certificate and its key
	log   *slog.Logger

	mu   sync.Mutex // guards what follows
	pair *tls.Certificate
	read [2]os.FileInfo // what the files were when pair was made of them
	told string         // why they were last of no use
}

// hubTLS reads what the hub shows to prove its name; nil where it has none and listens on loopback.
func hubTLS(values settings.Hub, log *slog.Logger) (*tls.Config, error) {
	if values.TLSCert == "" {
		return nil, nil
	}
	c := &hubCertificate{files: [2]string{values.TLSCert, values.TLSKey}, log: log}
	now := c.look()
	pair, err := c.load()
	if err != nil {
		return nil, failure.New(failure.SettingInvalid, "`hub.tls_cert`").
			Because("the certificate and its key can't be used: %v", err).
			Then("correct `hub.tls_cert` and `hub.tls_key`, and make both readable for this user").Wrap(err)
	}
	c.pair, c.read = pair, now
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.show}, nil
}

func (c *hubCertificate) load() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.files[0], c.files[1])
	return &pair, err
}

// look is what the files are now; nil for one that can't be asked. It comes before the reading, so that a change in
// between is seen the next time.
func (c *hubCertificate) look() (now [2]os.FileInfo) {
	for i, file := range c.files {
		if info, err := os.Stat(file); err == nil {
			now[i] = info
		}
	}
	return now
}

// show gives each handshake the certificate that lies there now. While its files are of no use, as between the writing
// of the one and of the other, the last good one stays; each reason is logged once.
func (c *hubCertificate) show(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.look()
	if sameFiles(now, c.read) {
		return c.pair, nil
	}
	pair, err := c.load()
	switch {
	case err == nil:
		c.pair, c.read, c.told = pair, now, ""
		c.log.Info("the certificate was renewed", "good_until", pair.Leaf.NotAfter)
	case err.Error() != c.told:
		c.told = err.Error()
		c.log.Warn("the certificate in hub.tls_cert and its key can't be used; the last good one is shown", "error", err)
	}
	return c.pair, nil
}

// sameFiles reports whether the files are those of before, with the same content as far as their facts tell.
func sameFiles(now, before [2]os.FileInfo) bool {
	for i, a := range now {
		b := before[i]
		if a == nil || b == nil || !os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) {
			return false
		}
	}
	return true
}
