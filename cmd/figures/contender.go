package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// clientFiles is the client that the daemon is measured beside.
//
//go:embed client/client.mjs client/package.json client/package-lock.json
var clientFiles embed.FS

// contender is one of the two that play the story: a program that joins the stage's project.
type contender struct {
	name string
	argv []string
	dir  string
	env  []string
	cmd  *exec.Cmd
	log  bytes.Buffer // what it prints; for an error
}

// ours builds the daemon as it is released.
func ours(ctx context.Context, root, folder string, s *stage) (*contender, error) {
	binary := filepath.Join(folder, "runner")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./cmd/runner")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the daemon: %w\n%s", err, out)
	}
	home := filepath.Dir(s.root)
	return &contender{
		name: "runner", dir: home,
		argv: []string{binary, "run", "--project", projectID, "--dir", s.root, "--api-url", "http://" + s.address},
		env:  []string{"HOME=" + home, "BRABO_ACCOUNT_TOKEN=" + s.token},
	}, nil
}

// theirs installs the client's modules.
func theirs(ctx context.Context, folder string, s *stage) (*contender, error) {
	dir := filepath.Join(folder, "client")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := clientFiles.ReadDir("client")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		data, err := clientFiles.ReadFile("client/" + entry.Name())
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, entry.Name()), data, 0o600); err != nil {
			return nil, err
		}
	}
	install := exec.CommandContext(ctx, "npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("installing the client's modules: %w\n%s", err, out)
	}
	return &contender{
		name: "phoenix package", dir: dir, argv: []string{"node", "client.mjs"},
		env: []string{
			"HOME=" + dir, "BRABO_API_URL=http://" + s.address, "BRABO_ACCOUNT_TOKEN=" + s.token,
			"PROJECT=" + projectID, "ROOT=" + s.root,
		},
	}, nil
}

// start runs it until it has joined, and gives the time that this took.
func (c *contender) start(ctx context.Context, s *stage) (time.Duration, error) {
	c.log.Reset()
	c.cmd = exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	c.cmd.Dir = c.dir
	c.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "SHELL=/bin/sh"}, c.env...)
	c.cmd.Stdout, c.cmd.Stderr = &c.log, &c.log
	began := time.Now()
	if err := c.cmd.Start(); err != nil {
		return 0, err
	}
	if err := joined(ctx, s); err != nil {
		return 0, fmt.Errorf("%s has not joined: %w\n%s", c.name, err, c.log.Bytes())
	}
	return time.Since(began), nil
}

// stop ends it as a service manager would, and waits until the hub has noticed.
func (c *contender) stop(ctx context.Context, s *stage) error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c.name, err, c.log.Bytes())
	}
	for s.hub.RunnerConnected(projectID) {
		if err := ctx.Err(); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// joined waits until a client serves the project.
func joined(ctx context.Context, s *stage) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return s.hub.WaitRunner(ctx, projectID)
}

// memory is a line of /proc/PID/status in MB: VmRSS now, VmHWM at most so far. Elsewhere than on Linux it fails.
func (c *contender) memory(field string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, found := bytes.Cut(status, []byte(field+":"))
	var kib float64
	if _, err := fmt.Sscan(string(rest), &kib); err != nil || !found {
		return 0, fmt.Errorf("no %s in /proc", field)
	}
	return kib * 1024 / 1e6, nil
}
