package runner

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// forEachEngine needs the engines in RUNNER_TEST_ENGINES and busybox-static. It runs a test against each engine, with
// an image of the test's own.
func forEachEngine(t *testing.T, run func(t *testing.T, address, image string)) {
	addresses := os.Getenv("RUNNER_TEST_ENGINES")
	if addresses == "" {
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" && os.Geteuid() != 0 {
			t.Fatal("needs engines in RUNNER_TEST_ENGINES")
		}
		t.Skip("needs engines in RUNNER_TEST_ENGINES")
	}
	for i, address := range strings.Split(addresses, ",") {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			address := strings.TrimSpace(address)
			run(t, address, importImage(t, address))
		})
	}
}

// importImage gives the engine a small image and takes it away after the test. The files of this machine are in it, too.
func importImage(t *testing.T, address string, files ...string) string {
	t.Helper()
	api, err := client.New(client.WithHost(address))
	if err != nil {
		t.Fatal(err)
	}
	name := "localhost/runner-test:" + strings.ToLower(rand.Text()[:12])
	t.Cleanup(func() {
		_, err := api.ImageRemove(context.Background(), name, client.ImageRemoveOptions{Force: true})
		if err := errors.Join(err, api.Close()); err != nil {
			t.Error(err)
		}
	})
	source := client.ImageImportSource{Source: bytes.NewReader(busyboxTar(t, files)), SourceName: "-"}
	answer, err := api.ImageImport(t.Context(), source, name, client.ImageImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	if said, err := io.ReadAll(answer); err != nil || bytes.Contains(said, []byte(`"error"`)) {
		t.Fatalf("%s, %v", said, err)
	}
	return name
}

func busyboxTar(t *testing.T, files []string) []byte {
	t.Helper()
	path, err := osexec.LookPath("busybox")
	if err != nil {
		t.Fatal("needs busybox-static:", err)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	headers := []tar.Header{
		{Typeflag: tar.TypeDir, Name: "bin/", Mode: 0o755}, {Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777},
		{Typeflag: tar.TypeDir, Name: "proc/", Mode: 0o755}, {Typeflag: tar.TypeDir, Name: "dev/", Mode: 0o755}, {Typeflag: tar.TypeDir, Name: "sys/", Mode: 0o755},
		{Typeflag: tar.TypeReg, Name: "bin/busybox", Mode: 0o755, Size: int64(len(body))},
	}
	for _, name := range strings.Fields("sh echo cat sleep true ls id touch mkdir test stat pwd rm readlink kill ps env setsid grep stty clear head tee") {
		headers = append(headers, tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + name, Linkname: "busybox", Mode: 0o777})
	}
	bodies := map[string][]byte{"bin/busybox": body}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(file, "/")
		headers = append(headers, tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(body))})
		bodies[name] = body
	}
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(bodies[h.Name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// onEngine lets a daemon find the engine at address.
func onEngine(address string) func(*Options) {
	return func(o *Options) {
		o.Containers.Discover = func(ctx context.Context) (*containerctl.Engine, error) {
			return containerctl.Discover(ctx, containerctl.Discovery{Setting: address, Environ: os.Environ()})
		}
	}
}

// spec is that of a project called p; every container of these tests has a name of its own.
func spec(dir, image string) string {
	return fmt.Sprintf(`{"workspaceDirName":%q,"projectSlug":"p","workspaceId":"w","imagem":%q,"imagemVersao":1,"rede":"none","cpus":1,"memoriaMb":64,"pidsLimit":64}`, dir, image)
}

// personsWord is the decision that a removal needs.
const personsWord = `,"decision":{"kind":"human","by":"ana","at":"2026-12-02T08:00:00Z"}`

func (e *engine) container(t *testing.T, event, ref, rest string) action.ContainerResult {
	t.Helper()
	e.send(t, event, fmt.Sprintf(`{"ref":%q,%s}`, ref, rest))
	var r action.ContainerResult
	if err := json.Unmarshal(e.hear(t, event+"_result").Payload, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func uniqueDir() string { return "test-" + strings.ToLower(rand.Text()[:12]) }

func TestCommandsRunWhereTheProjectsContainerSays(t *testing.T) {
	forEachEngine(t, func(t *testing.T, address, image string) {
		e := newEngine(t, action.Known()...)
		e.project = uniqueDir()
		d := startDaemon(t, e, onEngine(address))
		e.joined(t)
		dir := uniqueDir()
		target := fmt.Sprintf(`"workspaceDirName":%q`, dir)
		t.Cleanup(func() { removeContainer(t, address, dir) })

		started := e.container(t, "container_start", "start", `"spec":`+spec(dir, image))
		if !started.Sucesso || started.Nome != "brabo-"+dir || started.ContainerID == "" || *started.JaEstavaDePe {
			t.Fatalf("%+v", started)
		}
		if again := e.container(t, "container_start", "again", `"spec":`+spec(dir, image)); !again.Sucesso || !*again.JaEstavaDePe {
			t.Errorf("%+v", again)
		}
		e.exec(t, "inside", "pwd; touch made-inside; exit 4", fmt.Sprintf(`,"cwd":%q`, d.root))
		if r := e.result(t); r.ExitCode != 4 || r.Output != "/work\n" {
			t.Errorf("%+v", r)
		}
		if info, err := os.Stat(filepath.Join(d.root, "made-inside")); err != nil || !ownedByUs(info) {
			t.Errorf("a file made inside is not ours outside: %v", err)
		}
		e.exec(t, "host path", "test -d "+d.root+" && echo there", "")
		if r := e.result(t); r.Output != "there\n" {
			t.Errorf("%+v", r)
		}

		e.exec(t, "credential", "echo never", `,"env":{"BRABO_GIT_TOKEN":"s3cr3t","BRABO_GIT_USERNAME":"u"}`)
		r := e.result(t)
		if r.ExitCode != -1 || !strings.HasPrefix(r.Output, "[runner recusou o comando: credencial-nao-atravessa-o-container]") || strings.Contains(r.Output, "s3cr3t") || !strings.Contains(r.Output, "2 environment variables") {
			t.Errorf("%+v", r)
		}
		failuretest.Produced(t, r.Failure, failure.CredentialInContainer)
		e.exec(t, "git", `echo "$BRABO_GIT_TOKEN"; pwd`, `,"env":{"BRABO_GIT_TOKEN":"value"},"gitCredenciado":true`)
		if r := e.result(t); r.Output != "value\n"+d.root+"\n" {
			t.Errorf("authenticated git did not run on the host: %+v", r)
		}
		// What was let run for being inside runs inside, and never outside for the sake of a credential.
		const floor = `,"decision":{"kind":"policy","rule":"container_floor","at":"2026-12-02T08:00:00Z"}`
		e.exec(t, "floor", "pwd", floor)
		if r := e.result(t); r.Output != "/work\n" {
			t.Errorf("%+v", r)
		}
		e.exec(t, "floor and git", "touch ran-outside", `,"env":{"BRABO_GIT_TOKEN":"value"},"gitCredenciado":true`+floor)
		failuretest.Produced(t, e.result(t).Failure, failure.ContainerGone)
		if _, err := os.Stat(filepath.Join(d.root, "ran-outside")); err == nil {
			t.Error("it ran")
		}
		e.exec(t, "late", "sleep 300", `,"deadlineMs":2000`)
		if r := e.result(t); !r.TimedOut || r.ExitCode != -1 {
			t.Errorf("%+v", r)
		}

		if r := e.container(t, "container_stop", "stop", target); !r.Sucesso {
			t.Errorf("%+v", r)
		}
		e.exec(t, "outside", "pwd", "")
		if r := e.result(t); r.Output != d.root+"\n" {
			t.Errorf("%+v", r)
		}
		for _, ref := range []string{"remove", "remove again"} {
			if r := e.container(t, "container_remove", ref, target+personsWord); !r.Sucesso {
				t.Errorf("%+v", r)
			}
		}
	})
}

func TestRoutingFollowsTheEngineAfterARestartOfTheDaemon(t *testing.T) {
	forEachEngine(t, func(t *testing.T, address, image string) {
		e, base, dir := newEngine(t, action.Known()...), t.TempDir(), uniqueDir()
		e.project = dir
		t.Cleanup(func() { removeContainer(t, address, dir) })
		first := startDaemonIn(t, e, base, onEngine(address))
		e.joined(t)
		if r := e.container(t, "container_start", "start", `"spec":`+spec(dir, image)); !r.Sucesso {
			t.Fatalf("%+v", r)
		}
		first.stop()
		if err := first.wait(t); err != nil {
			t.Fatal(err)
		}
		startDaemonIn(t, e, base, onEngine(address))
		e.joined(t)
		e.exec(t, "inside", "pwd", "")
		if r := e.result(t); r.Output != "/work\n" {
			t.Errorf("after the restart commands run elsewhere: %+v", r)
		}
	})
}

func TestContainerOfAnotherProjectIsNotTouched(t *testing.T) {
	forEachEngine(t, func(t *testing.T, address, image string) {
		e := newEngine(t, action.Known()...)
		e.project = uniqueDir()
		startDaemon(t, e, onEngine(address))
		e.joined(t)
		dir := uniqueDir()
		t.Cleanup(func() { removeContainer(t, address, dir) })
		engine, err := containerctl.Discover(t.Context(), containerctl.Discovery{Setting: address, Environ: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		defer engine.Close()
		other, err := containerctl.ParseSpec(json.RawMessage(spec(dir, image)), "another")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.Start(t.Context(), other, containerctl.StartOptions{Root: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
		for event, rest := range map[string]string{
			"container_remove": fmt.Sprintf(`"workspaceDirName":%q`, dir) + personsWord, "container_stop": fmt.Sprintf(`"workspaceDirName":%q`, dir),
			"container_start": `"spec":` + spec(dir, image),
		} {
			failuretest.Produced(t, e.container(t, event, event, rest).Failure, failure.ContainerForeign)
		}
		if state, err := engine.Inspect(t.Context(), dir); err != nil || !state.Running {
			t.Errorf("%+v, %v", state, err)
		}
	})
}

func TestFolderThatCannotBeMadeStartsNoContainer(t *testing.T) {
	e := newEngine(t, action.Known()...)
	asked := make(chan struct{}, 1)
	d := startDaemon(t, e, func(o *Options) {
		o.Containers.Discover = func(context.Context) (*containerctl.Engine, error) {
			asked <- struct{}{}
			return nil, failure.New(failure.EngineNotInstalled, "engine")
		}
	})
	e.joined(t)
	if err := os.Remove(d.root); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.root, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := e.container(t, "container_start", "a", `"spec":`+spec("shop", "busybox:1"))
	failuretest.Produced(t, r.Failure, failure.RootNotFolder)
	if len(asked) > 0 {
		t.Error("the engine was asked before the folder was there")
	}
}

func TestContainerActionsWithoutAnEngineAreNamed(t *testing.T) {
	e := newEngine(t, action.Known()...)
	startDaemon(t, e)
	e.joined(t)
	for _, c := range []struct {
		event, ref, rest string
		want             failure.Name
	}{
		{"container_start", "a", `"spec":{}`, failure.SpecInvalid},
		{"container_start", "b", `"other":1`, failure.MalformedAction},
		{"container_start", "c", `"spec":` + spec("shop", "busybox:1"), failure.EngineNotInstalled},
		{"container_stop", "d", `"workspaceDirName":"../x"`, failure.SpecInvalid},
		{"container_remove", "e", `"workspaceDirName":"shop"` + personsWord, failure.EngineNotInstalled},
	} {
		r := e.container(t, c.event, c.ref, c.rest)
		if r.Ref != c.ref || r.Sucesso || r.Erro == "" {
			t.Errorf("%+v", r)
		}
		failuretest.Produced(t, r.Failure, c.want)
	}
}

func TestEngineThatWentAwayStopsCommandsOnlyWhereAContainerWasSeen(t *testing.T) {
	for _, seen := range []bool{false, true} {
		down := failure.New(failure.EngineNotRunning, "engine")
		m := &engines{used: seen, discover: func(context.Context) (*containerctl.Engine, error) { return nil, down }}
		_, _, found, err := m.running(t.Context(), "p")
		if found {
			t.Error("found a container without an engine")
		}
		if !seen {
			if err != nil {
				t.Errorf("a machine that never had a container refuses commands: %v", err)
			}
			continue
		}
		failuretest.Produced(t, err, failure.EngineNotRunning)
	}
}

func removeContainer(t *testing.T, address, dir string) {
	engine, err := containerctl.Discover(context.Background(), containerctl.Discovery{Setting: address, Environ: os.Environ()})
	if err != nil {
		t.Error(err)
		return
	}
	if err := errors.Join(engine.Remove(context.Background(), dir), engine.Close()); err != nil {
		t.Error(err)
	}
}

func TestCommandsThatAKilledDaemonLeftInAContainerAreEnded(t *testing.T) {
	forEachEngine(t, func(t *testing.T, address, image string) {
		e, base, state, dir := newEngine(t, action.Known()...), t.TempDir(), t.TempDir(), uniqueDir()
		t.Cleanup(func() { removeContainer(t, address, dir) })
		// What a daemon leaves that was killed: a command in the container, and a journal that knows of its start.
		engine, err := containerctl.Discover(t.Context(), containerctl.Discovery{Setting: address, Environ: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		root := filepath.Join(base, "project")
		if err := os.Mkdir(root, 0o755); err != nil {
			t.Fatal(err)
		}
		s, err := containerctl.ParseSpec(json.RawMessage(spec(dir, image)), "p")
		if err != nil {
			t.Fatal(err)
		}
		started, err := engine.Start(t.Context(), s, containerctl.StartOptions{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		left := make(chan error, 1)
		go func() {
			_, err := engine.Exec(context.Background(), containerctl.ExecCommand{Container: started.ID, Text: "touch /work/runs; sleep 300"})
			left <- err
		}()
		waitFile(t, filepath.Join(root, "runs"))
		earlier := openJournal(t, state)
		leave(t, earlier, e.URL, "begun", `{"ref":"begun","command":"sleep 300"}`, time.Now().Add(time.Hour), true)
		if err := earlier.Close(); err != nil {
			t.Fatal(err)
		}

		later := openJournal(t, state)
		d := startDaemonIn(t, e, base, onEngine(address), func(o *Options) { o.Ledger = later })
		failuretest.Produced(t, e.result(t).Failure, failure.Interrupted)
		<-left // its command was ended from outside
		d.stop()
		if err := errors.Join(d.wait(t), later.Close(), engine.Close()); err != nil {
			t.Error(err)
		}
	})
}
