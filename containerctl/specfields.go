package containerctl

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"

	"brabo.dev/runner/runner/failure"
)

const maxID = math.MaxInt32 // the largest uid and gid of protocol.md 4.4

// text reads a non-empty string, trimmed.
func (r *fieldReader) text(field string) string {
	if r.err != nil {
		return ""
	}
	if !r.present(field) {
		r.refuse(field, "it is missing")
		return ""
	}
	var s string
	if err := json.Unmarshal(r.fields[field], &s); err != nil {
		r.refuse(field, "it is not a string")
		return ""
	}
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		r.refuse(field, "it is empty")
	case strings.ContainsRune(s, 0):
		r.refuse(field, "it holds a NUL character")
	}
	return s
}

// version reads a number or a string as text; a number keeps the form in which it was sent.
func (r *fieldReader) version(field string) string {
	if r.err == nil && r.present(field) {
		var n json.Number
		if raw := r.fields[field]; raw[0] != '"' && json.Unmarshal(raw, &n) == nil {
			return n.String()
		}
	}
	return r.text(field)
}

// decimal is what counts as a number in a string. ParseFloat alone would also take hexadecimal, Inf and NaN.
var decimal = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// number reads a number or a string that holds one.
func number(raw json.RawMessage) (float64, bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		s = strings.TrimSpace(s)
	} else {
		var n json.Number
		if json.Unmarshal(raw, &n) != nil {
			return 0, false
		}
		s = n.String()
	}
	if !decimal.MatchString(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// amount reads a number above 0 and at most ceiling.
func (r *fieldReader) amount(field string, ceiling float64) float64 {
	if r.err != nil {
		return 0
	}
	if !r.present(field) {
		r.refuse(field, "it is missing")
		return 0
	}
	f, ok := number(r.fields[field])
	switch {
	case !ok:
		r.refuse(field, "%.60s is not a number", r.fields[field])
	case f <= 0:
		r.refuse(field, "%v is not above 0", f)
	case f > ceiling:
		r.err = failure.New(failure.SpecOverCeiling, "spec."+field).
			Because("%v is above the ceiling of %v; it is refused, not lowered", f, ceiling)
	}
	return f
}

// count is amount for what can't be had in parts.
func (r *fieldReader) count(field string, ceiling float64) int64 {
	f := r.amount(field, ceiling)
	if r.err == nil && f != math.Trunc(f) {
		r.refuse(field, "%v is not a whole number", f)
	}
	return int64(f)
}

// user reads {uid, gid}; absent and null mean that container.user decides.
func (r *fieldReader) user(field string) *User {
	if r.err != nil || !r.present(field) {
		return nil
	}
	var ids map[string]json.RawMessage
	if err := json.Unmarshal(r.fields[field], &ids); err != nil {
		r.refuse(field, "it is not an object with uid and gid")
		return nil
	}
	id := func(name string) int64 {
		f, ok := number(ids[name])
		if !ok || f != math.Trunc(f) || f < 1 || f > maxID {
			r.refuse(field+"."+name, "it is not an integer from 1 to %d", maxID)
			return 0
		}
		return int64(f)
	}
	return &User{UID: id("uid"), GID: id("gid")}
}
