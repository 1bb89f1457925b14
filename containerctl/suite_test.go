package containerctl

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// suite is what every engine has to pass.
var suite = []struct {
	name string
	test func(*testing.T, *bed)
}{
	{"every way to name it", testDiscovery},
	{"a container's whole life", testLife},
	{"a container is made as the contract says", testContract},
	{"commands inside", testExec},
	{"commands that are refused", testExecRefusals},
	{"bash inside", testBash},
	{"an image that can't serve", testUnusable},
	{"host paths in git's own work", testWorktree},
	{"commands that are ended", testEndings},
	{"commands that end in time", testGrace},
	{"what commands leave behind", testLeftBehind},
	{"commands side by side", testNeighbours},
	{"no room for another process", testFull},
	{"commands of a daemon that died", testEndCommands},
	{"workers that wait", testWorkersEnd},
	{"terminals inside", testTerminal},
	{"drift", testDrift},
	{"a container that is not ours", testForeign},
	{"an image with a program of its own", testEntrypoint},
	{"a container that others end", testGone},
	{"a stop that is ignored", testStubborn},
	{"remove while a command runs", testRemoveRunning},
	{"two daemons at once", testTwoDaemons},
	{"many starts and stops", testMany},
	{"roots that can't be mounted", testRoots},
	{"no link where it would do harm", testNoLink},
	{"a full project folder", testFolderFull},
	{"whose files they are", testUsers},
	{"a start that is cancelled", testCancelledStart},
	{"what the engine refuses", testRefused},
}

func runSuite(t *testing.T, b *bed) {
	t.Logf("%s at %s", b.Facts(), b.Address())
	for _, s := range suite {
		t.Run(s.name, func(t *testing.T) { s.test(t, b) })
	}
}

// Needs Docker: starts dockerd.
func TestRootDocker(t *testing.T) {
	t.Parallel() // the suite mostly waits for the engine
	runSuite(t, newBed(t, startDocker(t).address))
}

// Needs Podman: starts its service.
func TestRootPodman(t *testing.T) {
	t.Parallel()
	runSuite(t, newBed(t, startPodman(t).address))
}

// Needs the engines in RUNNER_TEST_ENGINES.
func TestEnginesHandedOver(t *testing.T) {
	engines := os.Getenv("RUNNER_TEST_ENGINES")
	if os.Geteuid() == 0 {
		t.Skip("is for an ordinary user; root starts engines of its own")
	}
	need(t, engines != "", "engines in RUNNER_TEST_ENGINES")
	for i, address := range strings.Split(engines, ",") {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			runSuite(t, newBed(t, strings.TrimSpace(address)))
		})
	}
}
