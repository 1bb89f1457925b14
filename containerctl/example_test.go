package containerctl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"brabo.dev/runner/containerctl"
)

// What a server asks for is held against the rules before any engine hears of it.
func ExampleParseSpec() {
	for _, raw := range []string{
		`{"workspaceDirName":"shop","projectSlug":"shop","workspaceId":"w1","imagem":"node:22","imagemVersao":1,"rede":"none","cpus":2,"memoriaMb":"512","pidsLimit":100}`,
		`{"workspaceDirName":"shop","projectSlug":"shop","workspaceId":"w1","imagem":"node:22","imagemVersao":1,"rede":"host","cpus":2,"memoriaMb":512,"pidsLimit":100}`,
		`{"workspaceDirName":"shop","projectSlug":"shop","workspaceId":"w1","imagem":"node:22","imagemVersao":1,"rede":"none","cpus":64,"memoriaMb":512,"pidsLimit":100}`,
	} {
		spec, err := containerctl.ParseSpec(json.RawMessage(raw), "project-1")
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s: %s, %g CPUs, %g MiB\n", spec.WorkspaceDirName, spec.Image, spec.CPUs, spec.MemoryMiB)
	}
	// Output:
	// shop: node:22, 2 CPUs, 512 MiB
	// spec_invalid: spec.rede: "host" is neither none nor egress. correct the field and propose the action again; nothing was touched
	// spec_over_ceiling: spec.cpus: 64 is above the ceiling of 8; it is refused, not lowered. ask for less; a value is never lowered silently
}

// A command in the project's container, on whichever engine answers.
func Example() {
	ctx := context.Background()
	engine, err := containerctl.Discover(ctx, containerctl.Discovery{Environ: os.Environ(), Home: os.Getenv("HOME")})
	if err != nil {
		log.Fatal(err) // names every address that was tried
	}
	defer engine.Close()
	spec := containerctl.Spec{
		WorkspaceDirName: "shop", ProjectID: "project-1", ProjectSlug: "shop", WorkspaceID: "w1",
		Image: "node:22", Network: containerctl.NetworkNone, CPUs: 2, MemoryMiB: 512, Pids: 100,
	}
	started, err := engine.Start(ctx, spec, containerctl.StartOptions{Root: "/home/ana/shop"})
	if err != nil {
		log.Fatal(err)
	}
	var output bytes.Buffer
	result, err := engine.Exec(ctx, containerctl.ExecCommand{Container: started.ID, Text: "npm test", Output: &output})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.ExitCode, output.String())
}
