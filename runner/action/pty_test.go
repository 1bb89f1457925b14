package action

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestTerminalMessagesAreRead(t *testing.T) {
	for raw, want := range map[string]PtyOpen{
		`{"sessionRef":"s","cols":80,"rows":24}`:                        {SessionRef: "s", Cols: 80, Rows: 24},
		`{"sessionRef":"s","cols":80.9,"rows":0,"by":"ana","later":{}}`: {SessionRef: "s", Cols: 80, Rows: 1, By: "ana"},
		`{"sessionRef":"s","cols":-3,"rows":1e300,"by":7}`:              {SessionRef: "s", Cols: 1, Rows: 65535},
	} {
		got, fail := DecodePtyOpen(json.RawMessage(raw))
		if diff := cmp.Diff(want, got); fail != nil || diff != "" {
			t.Errorf("%s: %v\n%s", raw, fail, diff)
		}
	}
	for raw, want := range map[string]string{`{"sessionRef":"s","data":"/wAK"}`: "\xff\x00\n", `{"sessionRef":"s","data":""}`: ""} {
		if ref, data, fail := DecodePtyInput(json.RawMessage(raw)); fail != nil || ref != "s" || string(data) != want {
			t.Errorf("%s: %q, %q, %v", raw, ref, data, fail)
		}
	}
	if ref, cols, rows, fail := DecodePtyResize(json.RawMessage(`{"sessionRef":"s","cols":1,"rows":2}`)); fail != nil || ref != "s" || cols != 1 || rows != 2 {
		t.Error(ref, cols, rows, fail)
	}
	if ref, fail := DecodePtyClose(json.RawMessage(`{"sessionRef":"s"}`)); fail != nil || ref != "s" {
		t.Error(ref, fail)
	}
}

func TestMalformedTerminalMessagesAreNamed(t *testing.T) {
	long := strings.Repeat("x", maxRef+1)
	for _, c := range []struct {
		event, raw, ref string
	}{
		{EventPtyOpen, `7`, ""},
		{EventPtyOpen, `{}`, ""},
		{EventPtyOpen, `{"sessionRef":"","cols":1,"rows":1}`, ""},
		{EventPtyOpen, `{"sessionRef":"` + long + `","cols":1,"rows":1}`, long},
		{EventPtyOpen, `{"sessionRef":"s","rows":1}`, "s"},
		{EventPtyOpen, `{"sessionRef":"s","cols":"80","rows":1}`, "s"},
		{EventPtyOpen, `{"sessionRef":"s","cols":80,"rows":null}`, "s"},
		{EventPtyInput, `{"sessionRef":"s"}`, "s"},
		{EventPtyInput, `{"sessionRef":"s","data":null}`, "s"},
		{EventPtyInput, `{"sessionRef":"s","data":"secret!"}`, "s"},
		{EventPtyResize, `{"sessionRef":"s","cols":80}`, "s"},
		{EventPtyClose, `{"sessionRef":7}`, ""},
	} {
		var ref string
		var fail *failure.Failure
		switch c.event {
		case EventPtyOpen:
			var p PtyOpen
			p, fail = DecodePtyOpen(json.RawMessage(c.raw))
			ref = p.SessionRef
		case EventPtyInput:
			ref, _, fail = DecodePtyInput(json.RawMessage(c.raw))
		case EventPtyResize:
			ref, _, _, fail = DecodePtyResize(json.RawMessage(c.raw))
		case EventPtyClose:
			ref, fail = DecodePtyClose(json.RawMessage(c.raw))
		}
		if ref != c.ref {
			t.Errorf("%s %s: the reference is %q", c.event, c.raw, ref)
		}
		failuretest.Produced(t, fail, failure.MalformedAction)
		if strings.Contains(fail.Error(), "secret") {
			t.Errorf("what was typed stands in %q", fail)
		}
	}
}

func FuzzDecodePty(f *testing.F) {
	f.Add([]byte(`{"sessionRef":"s","cols":80,"rows":24,"by":"ana"}`))
	f.Add([]byte(`{"sessionRef":"s","data":"/wAK"}`))
	f.Add([]byte(`{"sessionRef":"s","cols":-1e999,"rows":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if p, fail := DecodePtyOpen(raw); fail == nil && (p.SessionRef == "" || p.Cols < 1 || p.Rows < 1) {
			t.Errorf("accepted %q as %+v", raw, p)
		}
		if ref, _, fail := DecodePtyInput(raw); fail == nil && ref == "" {
			t.Errorf("accepted %q", raw)
		}
		if ref, cols, rows, fail := DecodePtyResize(raw); fail == nil && (ref == "" || cols < 1 || rows < 1) {
			t.Errorf("accepted %q", raw)
		}
		if ref, fail := DecodePtyClose(raw); fail == nil && ref == "" {
			t.Errorf("accepted %q", raw)
		}
	})
}
