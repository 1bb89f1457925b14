package containerctl

import (
	"context"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"
)

// The figures are ratios of medians that are measured in turn in one run, so that they can be compared across
// machines. Goals: exec at most 1.3 times the bare API and at least 3 times faster than the docker command line;
// start at most 1.2 times
// the bare calls that the contract needs: create, the link through the archive API, start.

// medians runs each function once a round and gives the medians.
func medians(b *testing.B, rounds int, run ...func()) []time.Duration {
	taken := make([][]time.Duration, len(run))
	for range rounds {
		for i, f := range run {
			began := time.Now()
			f()
			taken[i] = append(taken[i], time.Since(began))
		}
	}
	result := make([]time.Duration, len(run))
	for i, all := range taken {
		slices.Sort(all)
		result[i] = all[len(all)/2]
	}
	return result
}

// report gives the ratio and ours in milliseconds; the time of an iteration says nothing here.
func report(b *testing.B, name string, ratio float64, ours time.Duration) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ratio, name)
	b.ReportMetric(float64(ours.Microseconds())/1000, "ms")
}

// benchEngines runs a benchmark against both engines.
func benchEngines(b *testing.B, bench func(*testing.B, *bed)) {
	b.Run(docker, func(b *testing.B) { bench(b, newBed(b, startDocker(b).address)) })
	b.Run(podman, func(b *testing.B) { bench(b, newBed(b, startPodman(b).address)) })
}

// Needs Docker and Podman: starts both.
func BenchmarkExecAgainstTheBareAPI(b *testing.B) {
	benchEngines(b, func(b *testing.B, bed *bed) {
		_, c, _ := bed.up(b)
		m := medians(b, max(b.N, 30), func() { bed.run(b, c.ID, "true") }, func() { bareExec(b, bed.raw, c.ID) })
		report(b, "×bare", float64(m[0])/float64(m[1]), m[0])
	})
}

// bareExec is what a caller has to ask of the API to learn how /bin/sh -c true ended.
func bareExec(b *testing.B, api *client.Client, id string) {
	b.Helper()
	ctx := context.Background()
	made, err := api.ExecCreate(ctx, id, client.ExecCreateOptions{AttachStdout: true, AttachStderr: true, Cmd: []string{"/bin/sh", "-c", "true"}})
	if err != nil {
		b.Fatal(err)
	}
	conn, err := api.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	if _, err := stdcopy.StdCopy(io.Discard, io.Discard, conn.Reader); err != nil {
		b.Fatal(err)
	}
	if got, err := api.ExecInspect(ctx, made.ID, client.ExecInspectOptions{}); err != nil || got.ExitCode != 0 {
		b.Fatal(got, err)
	}
}

// Needs Docker and its command line: starts dockerd.
func BenchmarkExecAgainstTheCommandLine(b *testing.B) {
	cli := needProgram(b, "docker")
	bed := newBed(b, startDocker(b).address)
	_, c, _ := bed.up(b)
	m := medians(b, max(b.N, 20), func() { bed.run(b, c.ID, "true") }, func() {
		if out, err := exec.Command(cli, "-H", bed.Address(), "exec", c.ID, "/bin/sh", "-c", "true").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	})
	report(b, "×faster", float64(m[1])/float64(m[0]), m[0])
}

// Needs Docker and Podman: starts both.
func BenchmarkStartAgainstTheBareAPI(b *testing.B) {
	benchEngines(b, func(b *testing.B, bed *bed) {
		root := b.TempDir()
		s := bed.spec(b)
		remove := func(id string) {
			if _, err := bed.raw.ContainerRemove(context.Background(), id, client.ContainerRemoveOptions{Force: true}); err != nil {
				b.Fatal(err)
			}
		}
		var ours, bare string
		m := medians(b, max(b.N, 15), func() {
			c, err := bed.Start(context.Background(), s, StartOptions{Root: root})
			if err != nil {
				b.Fatal(err)
			}
			ours = c.ID
		}, func() { remove(ours) }, func() {
			opts := createOptions(s, root, "")
			opts.Name = strings.Replace(opts.Name, namePrefix, "bare-", 1)
			c, err := bed.raw.ContainerCreate(context.Background(), opts)
			if err != nil {
				b.Fatal(err)
			}
			// The contract asks for the link too, so that it belongs to the floor.
			archive, err := linkArchive(root)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := bed.raw.CopyToContainer(context.Background(), c.ID, client.CopyToContainerOptions{DestinationPath: "/", Content: archive}); err != nil {
				b.Fatal(err)
			}
			if _, err := bed.raw.ContainerStart(context.Background(), c.ID, client.ContainerStartOptions{}); err != nil {
				b.Fatal(err)
			}
			bare = c.ID
		}, func() { remove(bare) })
		report(b, "×bare", float64(m[0])/float64(m[2]), m[0])
	})
}
