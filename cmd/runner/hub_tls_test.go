package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/settings"
)

// certificateFiles makes a certificate for localhost that only its own file speaks for, and its key.
func certificateFiles(t *testing.T) (cert, key string) {
	t.Helper()
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	writeCertificate(t, cert, key, 1)
	return cert, key
}

// writeCertificate replaces the two files, each by another, with those of a certificate of this serial number.
func writeCertificate(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "hub of a test"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: raw}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := settings.WriteFile(path, pem.EncodeToMemory(block)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHubShowsARenewedCertificateWithoutARestart replaces one file after the other, as programs that renew do.
func TestHubShowsARenewedCertificateWithoutARestart(t *testing.T) {
	cert, key := certificateFiles(t)
	p := startHubCommand(t, filepath.Join(t.TempDir(), "hub"), settings.Hub{Listen: "127.0.0.1:0", TLSCert: cert, TLSKey: key})
	shown := func() int64 {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(p.url, "https://"), &tls.Config{InsecureSkipVerify: true}) // what it shows is the question
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	newCert, newKey := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	writeCertificate(t, newCert, newKey, 2)
	for _, step := range []struct {
		what string
		do   func() error
		want int64
	}{
		{"at the start", func() error { return nil }, 1},
		{"with the new certificate and the old key", func() error { return os.Rename(newCert, cert) }, 1},
		{"again", func() error { return nil }, 1},
		{"with the new key, too", func() error { return os.Rename(newKey, key) }, 2},
		{"with nothing there", func() error { return os.Remove(cert) }, 2},
		{"with a third", func() error { writeCertificate(t, cert, key, 3); return nil }, 3},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got := shown(); got != step.want {
			t.Errorf("%s it shows certificate %d, want %d", step.what, got, step.want)
		}
	}
	p.stop()
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	if log := p.log.String(); strings.Count(log, "can't be used") != 2 || strings.Count(log, "was renewed") != 2 {
		t.Errorf("it logs\n%s", log)
	}
}

// TestHubForOthersSpeaksTLSAloneAndSaysWhatItExposes listens on every address of this machine.
func TestHubForOthersSpeaksTLSAloneAndSaysWhatItExposes(t *testing.T) {
	inHome(t)
	cert, key := certificateFiles(t)
	p := startHubCommand(t, filepath.Join(t.TempDir(), "hub"), settings.Hub{Listen: "0.0.0.0:0", TLSCert: cert, TLSKey: key})
	address, found := strings.CutPrefix(p.url, "https://localhost:")
	if !found {
		t.Fatalf("it is at %s", p.url)
	}
	response, err := http.Get("http://127.0.0.1:" + address + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(response.Body)
	if response.Body.Close(); err != nil || response.StatusCode != http.StatusBadRequest || !strings.Contains(string(said), "HTTPS") {
		t.Errorf("without TLS: %d %s, %v", response.StatusCode, said, err)
	}
	_, err = client.New(p.url, p.token).Me(t.Context()) // nobody that the system knows speaks for it
	failuretest.Produced(t, err, failure.HubUnreachable)

	t.Setenv(hubURLVariable, p.url)
	t.Setenv(agentTokenVariable, p.token)
	t.Setenv("RUNNER_CA_FILE", cert)
	c, err := (&hubFlags{}).client()
	if err != nil {
		t.Fatal(err)
	}
	if me, err := c.Me(t.Context()); err != nil || me.Role != "owner" {
		t.Errorf("%+v, %v", me, err)
	}
	_, err = c.Terminal(t.Context(), "nowhere", hub.TerminalSize{Cols: 80, Rows: 24}) // a WebSocket by the same certificate
	failuretest.Produced(t, err, failure.ProjectNotFound)
	t.Setenv("RUNNER_CA_FILE", key)
	_, err = (&hubFlags{}).client()
	failuretest.Produced(t, err, failure.CAFileInvalid)

	p.stop()
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	if log := p.log.String(); !strings.Contains(log, "whoever reaches this address") || !strings.Contains(log, "localhost") {
		t.Errorf("it does not say what it exposes:\n%s", log)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestHubWhoseCertificateIsOfNoUseDoesNotListen(t *testing.T) {
	cert, key := certificateFiles(t)
	_, other := certificateFiles(t)
	for name, values := range map[string]settings.Hub{
		"no such file": {TLSCert: filepath.Join(t.TempDir(), "none"), TLSKey: key}, "no certificate": {TLSCert: key, TLSKey: key},
		"another key": {TLSCert: cert, TLSKey: other},
	} {
		t.Run(name, func(t *testing.T) {
			values.Listen = "127.0.0.1:0"
			// Nothing is touched before: there is neither a store nor a folder.
			err := serveHub(t.Context(), settings.Folders{}, values, filepath.Join(t.TempDir(), "none"), nil, nil, nil)
			failuretest.Produced(t, err, failure.SettingInvalid)
		})
	}
}

// TestHubRefusesToListenForOthersWithoutTLS has the command itself refuse, by the setting's name, before it opens anything.
func TestHubRefusesToListenForOthersWithoutTLS(t *testing.T) {
	home := inHome(t)
	for _, listen := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:4680", "hub.example:4680"} {
		t.Setenv("RUNNER_HUB_LISTEN", listen)
		code, _, errOut := runs(t, "hub")
		if code != exitUsage || !strings.Contains(errOut, "setting_invalid") || !strings.Contains(errOut, "hub.tls_cert") {
			t.Errorf("%s: exit %d: %s", listen, code, errOut)
		}
	}
	if _, err := os.Stat(filepath.Join(home, ".local", "share", "runner")); !os.IsNotExist(err) {
		t.Errorf("it left something: %v", err)
	}
}
