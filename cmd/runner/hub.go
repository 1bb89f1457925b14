package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/logs"
	"brabo.dev/runner/runner/redact"
	"brabo.dev/runner/runner/settings"
)

// Files in the hub's folder that tell commands on this machine where it is, and let its owner in.
const (
	hubAddressFile = "address"
	hubTokenFile   = "owner-token"
)

// hubDrain bounds the wait for requests that are being answered when the hub stops.
const hubDrain = 10 * time.Second

// hubAddress is the content of the address file, which is there while the hub runs.
type hubAddress struct {
	URL string `json:"url"`
}

func newHubCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "Run the local control plane: proposals, rules, approvals and the event log",
		Long: `hub is the server for one machine or a small team: agents propose actions to it, its rules or a person decide, and
the daemons that are paired with it execute. It listens on hub.listen, on loopback unless hub.tls_cert and hub.tls_key are
set, and keeps what it knows in the data folder. A certificate that is renewed needs no restart: the next connection
sees it. Where no authority that the system knows signed the certificate, name one that did in ca_file, on each machine
whose commands and daemons ask the hub.

The first start makes an owner, whose token lies in the data folder, in hub/owner-token, readable by this user alone. On a
terminal it prints a link that signs a browser in at the page, once; ` + "`runner hub link`" + ` prints another.
The first Ctrl-C or SIGTERM, or the closing of the terminal, lets requests that are being answered finish; what is under way
goes on at the next start.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilAlone(cmd.Context())
			defer stop()
			return runHub(ctx, cmd.ErrOrStderr())
		},
	}
	cmd.AddCommand(newHubLinkCommand())
	return cmd
}

func runHub(ctx context.Context, errOut io.Writer) error {
	values, src, err := loadSettings()
	if err != nil {
		return err
	}
	if err := keepToItself(); err != nil {
		return err
	}
	folder := filepath.Join(src.Folders().Data, "hub")
	opened, err := store.Open(folder)
	if err != nil {
		return err
	}
	known := &redact.Known{}
	log, logFile, err := logs.Open(logs.Options{ // by the one hub that has the store
		Folder: hubLogFolder(src.Folders()), Total: values.Log.Total, Level: levelOf(values.Log.Level), People: errOut, Secrets: known,
	})
	if err != nil {
		log.Warn("there is no log file", "failure", err)
	}
	defer logFile.Close()
	token, err := ownerToken(folder)
	if err != nil {
		return errors.Join(err, opened.Close())
	}
	known.Keep(token)
	return errors.Join(serveHub(ctx, src.Folders(), values.Hub, folder, opened, log, watcher(errOut)), opened.Close())
}

// hubOwner is the person whom the first start makes.
const hubOwner = "owner"

// serveHub serves until ctx ends, and then lets go in order. people watches, and is told a link to the page; nil: nobody.
func serveHub(ctx context.Context, folders settings.Folders, values settings.Hub, folder string, opened *store.Store, log *slog.Logger, people io.Writer) error {
	certificate, err := hubTLS(values, log)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", values.Listen)
	if err != nil {
		return failure.New(failure.HubNotListening, "hub.listen "+values.Listen).Wrap(err)
	}
	defer listener.Close()
	token, err := ownerToken(folder)
	if err != nil {
		return err
	}
	hosts := hubHosts(values, listener.Addr())
	daemons := control.NewDaemons(folders.State)
	h, err := hub.Open(hub.Config{
		Store: opened, PersonToken: token, Person: hubOwner, Rate: values.Rate, MaxBody: values.Body,
		ActionDeadline: values.ActionDeadline, OutcomeDeadline: values.OutcomeDeadline, EventsKeep: values.EventsKeep,
		Hosts: hosts, WorkspacesRoot: values.WorkspacesRoot, ProjectsBase: values.ProjectsBase,
		Home: folders.Home, Ours: folders.Ours(), Log: log,
		RefusePeer: daemons.RefuseOffspring, RunnerJoins: func() { daemons.Look() },
	})
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: h, ConnContext: hub.ConnContext, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, TLSConfig: certificate, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() {
		if certificate != nil {
			served <- server.ServeTLS(listener, "", "")
		} else {
			served <- server.Serve(listener)
		}
	}()
	address := hubURL(values, listener.Addr())
	ready := make(chan struct{})
	defer accompanyHub(ctx, ready, address, opened, log)()
	err = announceHub(folder, address, values, hosts, log)
	if err == nil && people != nil {
		err = greet(people, h, address)
	}
	if err == nil {
		close(ready)
		select {
		case <-ctx.Done():
		case err = <-served:
			served <- http.ErrServerClosed
			err = failure.New(failure.HubNotListening, "hub.listen "+values.Listen).Because("it stopped: %v", err).Wrap(err)
		}
	}
	log.Info("stopping")
	return errors.Join(err, stopHub(context.WithoutCancel(ctx), h, server, served), os.Remove(filepath.Join(folder, hubAddressFile)))
}

// stopHub ends streams and connections of daemons, lets requests finish, and cuts what is left.
func stopHub(ctx context.Context, h *hub.Hub, server *http.Server, served <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, hubDrain)
	defer cancel()
	err := h.Close(ctx)
	if server.Shutdown(ctx) != nil {
		err = errors.Join(err, server.Close())
	}
	if end := <-served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}

// announceHub tells commands on this machine, and the person, where the hub is.
func announceHub(folder, address string, values settings.Hub, hosts []string, log *slog.Logger) error {
	raw, err := json.Marshal(hubAddress{address})
	if err != nil {
		return err
	}
	if err := settings.WriteFile(filepath.Join(folder, hubAddressFile), append(raw, '\n')); err != nil {
		return failure.New(failure.HubStoreUnwritable, folder).Wrap(err)
	}
	log.Info("the hub listens", "url", address, "owner_token", filepath.Join(folder, hubTokenFile))
	if values.TLSCert != "" {
		log.Warn("whoever reaches this address sees the sign-in page and the description of the API, may ask for a daemon to be let in, "+
			"and may try tokens; only members get further", "listen", values.Listen, "hosts", strings.Join(hosts, " "))
	}
	return nil
}

// ownerToken reads the owner's token, and makes it at the first start. A file that others may read is made private.
func ownerToken(folder string) (string, error) {
	path := filepath.Join(folder, hubTokenFile)
	raw, err := os.ReadFile(path)
	switch {
	case err == nil:
		if token := strings.TrimSpace(string(raw)); token != "" {
			if err := os.Chmod(path, 0o600); err != nil {
				return "", failure.New(failure.HubStoreUnwritable, path).Wrap(err)
			}
			return token, nil
		}
	case !errors.Is(err, os.ErrNotExist):
		return "", failure.New(failure.HubStoreUnwritable, path).Wrap(err)
	}
	token := hub.NewPersonToken()
	if err := settings.WriteFile(path, []byte(token+"\n")); err != nil {
		return "", failure.New(failure.HubStoreUnwritable, path).Wrap(err)
	}
	return token, nil
}

// hubHosts are the names that the hub answers to.
func hubHosts(values settings.Hub, at net.Addr) []string {
	if len(values.Hosts) > 0 {
		return values.Hosts
	}
	hosts := []string{at.String(), "localhost"}
	if host, _, err := net.SplitHostPort(values.Listen); err == nil && host != "" {
		hosts = append(hosts, host)
	}
	if ip := ipOf(at); ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		hosts = append(hosts, "127.0.0.1", "::1")
	}
	if name, err := os.Hostname(); err == nil && values.TLSCert != "" {
		hosts = append(hosts, name)
	}
	return hosts
}

func ipOf(at net.Addr) net.IP {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return nil
	}
	return tcp.IP
}

// hubURL is the address for commands on this machine.
func hubURL(values settings.Hub, at net.Addr) string {
	scheme, host := "http", at.String()
	if values.TLSCert != "" {
		scheme = "https"
	}
	named, _, err := net.SplitHostPort(values.Listen)
	_, real, err2 := net.SplitHostPort(host)
	if err == nil && err2 == nil && net.ParseIP(named) == nil && named != "" {
		host = net.JoinHostPort(named, real)
	}
	if ip := ipOf(at); ip != nil && ip.IsUnspecified() && err2 == nil {
		host = net.JoinHostPort("localhost", real)
	}
	return fmt.Sprintf("%s://%s", scheme, host)
}
