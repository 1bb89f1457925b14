package channel_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/outcomes.txt instead of comparing with it")

// transcripts is what real Phoenix servers said; see its format key.
type transcripts struct {
	Cases    []transcript
	Variants []struct {
		Phoenix, Server string
		Cases           []transcript
	}
}

type transcript struct {
	Name  string
	Steps []step
}

type step struct {
	Dir    string
	Data   json.RawMessage
	Socket int
}

// TestEveryRecordedServerLeavesTheClientInTheRightState replays what the servers
// sent, byte for byte, to the client, and compares what the client made of it
// with the table in testdata/outcomes.txt. What a recording shows of a client
// that breaks the protocol is not sent, because this client can't; the server's
// answers to it come all the same.
func TestEveryRecordedServerLeavesTheClientInTheRightState(t *testing.T) {
	raw, err := os.ReadFile("testdata/phoenix-v2-transcripts.json")
	if err != nil {
		t.Fatal(err)
	}
	var all transcripts
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) != 136 {
		t.Fatalf("%d cases, want 136", len(all.Cases))
	}
	for _, v := range all.Variants {
		for _, c := range v.Cases {
			c.Name += " on phoenix " + v.Phoenix + ", " + v.Server
			all.Cases = append(all.Cases, c)
		}
	}
	expected := readOutcomes(t)
	var out bytes.Buffer
	for _, c := range all.Cases {
		t.Run(c.Name, func(t *testing.T) {
			got := replay(t, c)
			fmt.Fprintf(&out, "## %s\n%s", c.Name, got)
			if *update {
				return
			}
			if want, ok := expected[c.Name]; !ok || got != want {
				t.Errorf("outcome:\n%swant:\n%s", got, want)
			}
		})
	}
	if *update {
		if err := os.WriteFile("testdata/outcomes.txt", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func readOutcomes(t *testing.T) map[string]string {
	raw, err := os.ReadFile("testdata/outcomes.txt")
	if err != nil && !*update {
		t.Fatal(err)
	}
	table := map[string]string{}
	for _, part := range strings.Split(string(raw), "## ")[1:] {
		name, outcome, _ := strings.Cut(part, "\n")
		table[name] = outcome
	}
	return table
}
