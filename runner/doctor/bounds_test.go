package doctor

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/settings"
)

func TestConfinementTellsWhatIsActive(t *testing.T) {
	told, able := exec.Confinement()
	for name, c := range map[string]struct {
		demanded bool
		err      error
		verdict  control.Verdict
		text     string
	}{
		"off":                {false, nil, control.Pass, "off"},
		"a policy unread":    {false, errors.New("unread"), control.Fail, ""},
		"on where it can":    {true, nil, control.Pass, told},
		"on where it cannot": {true, nil, control.Fail, ""},
	} {
		if c.demanded && c.err == nil && (able == nil) != (c.verdict == control.Pass) {
			continue // this machine is the other kind
		}
		b := Bounds{Demanded: func() (bool, error) { return c.demanded, c.err }}
		found := Run(context.Background(), b.Checks())[0]
		if found.Verdict != c.verdict || !strings.HasPrefix(found.Text, c.text) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestLimitsThatDontHoldAreNamed(t *testing.T) {
	for _, c := range []struct {
		limits settings.Limits
		system string
		named  string
	}{
		{settings.Limits{}, "linux", ""},
		{settings.Limits{CPU: 1, OpenFiles: 1, FileSize: 1}, "linux", ""},
		{settings.Limits{CPU: 1, Memory: 1, PIDs: 1}, "linux", ""},
		{settings.Limits{CPU: 1, Memory: 1, PIDs: 1}, "darwin", "`memory`, `pids`"},
		{settings.Limits{CPU: 1, OpenFiles: 1, FileSize: 1}, "windows", "`cpu`, `open_files`, `file_size`"},
	} {
		f := unenforced(c.limits, c.system)
		if c.named == "" {
			if f != nil {
				t.Error(f)
			}
			continue
		}
		failuretest.Produced(t, f, failure.LimitsNotEnforced)
		if !strings.Contains(f.Error(), c.named) {
			t.Errorf("%v does not name %s", f, c.named)
		}
	}
}

// Whether the kernel keeps them depends on where this test runs.
func TestLimitsThatAreCountedAreTold(t *testing.T) {
	b := Bounds{Limits: settings.Limits{PIDs: 1}}
	told, err := b.limits(context.Background())
	if exec.KernelKeepsLimits() == nil && runtime.GOOS == "linux" {
		if err != nil || !strings.Contains(told, "by the kernel") {
			t.Errorf("%q, %v", told, err)
		}
		return
	}
	name := failure.LimitsCounted
	if runtime.GOOS != "linux" {
		name = failure.LimitsNotEnforced
	}
	failuretest.Produced(t, err, name)
}

func TestDemandsThatThisMachineCantMeetAreTold(t *testing.T) {
	unable := failure.New(failure.ConfinementUnavailable, "this kernel")
	for name, c := range map[string]struct {
		demanded  bool
		err, able error
		want      failure.Name // empty: nothing is told
	}{
		"nothing is demanded":     {false, nil, unable, ""},
		"it can":                  {true, nil, nil, ""},
		"it can't":                {true, nil, unable, failure.ConfinementUnavailable},
		"it is not known to want": {false, failure.New(failure.MachinePolicyInvalid, "policy.json"), nil, failure.MachinePolicyInvalid},
	} {
		items := Bounds{Demanded: func() (bool, error) { return c.demanded, c.err }}.unmet(c.able)
		switch {
		case c.want == "" && len(items) > 0, c.want != "" && (len(items) != 1 || items[0].Severity != control.Error):
			t.Errorf("%s: %+v", name, items)
		case c.want != "":
			failuretest.Produced(t, items[0].Failure, c.want)
		}
	}
}
