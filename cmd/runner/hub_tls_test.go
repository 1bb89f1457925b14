package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
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
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hub of a test"}, DNSNames: []string{"localhost"},
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
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: raw}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
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
