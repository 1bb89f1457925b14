package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// kind is how values of one type are written, in a variable and in the file, and shown.
type kind[T any] struct {
	// what completes "it must be …".
	what string
	// text reads a value as a variable or flag has it.
	text func(string) (T, error)
	// numbers and truths say that the file may have a JSON number, or a JSON true or false, beside a string.
	numbers, truths bool
	// raw reads a JSON value that has no text form: a list or an object, which a variable has as JSON too.
	raw func(json.RawMessage) (T, error)
	// check looks at a value beyond its form, or is nil.
	check func(T) error
	// compare orders values, so that a range applies; nil where none does.
	compare func(a, b T) int
	show    func(T) string
}

// parse reads a value from a variable or flag.
func (k kind[T]) parse(text string) (T, error) {
	if k.raw != nil && k.text == nil {
		return k.raw(json.RawMessage(text))
	}
	return k.text(strings.TrimSpace(text))
}

// parseJSON reads a value from the file.
func (k kind[T]) parseJSON(raw json.RawMessage) (T, error) {
	var zero T
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return zero, errors.New("null is no value; leave the key out for the default")
	case k.raw != nil && (k.text == nil || raw[0] == '[' || raw[0] == '{'):
		return k.raw(raw)
	case raw[0] == '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return zero, err
		}
		if k.truths {
			return zero, errors.New("the text stands where true or false is expected")
		}
		return k.text(text)
	case k.numbers && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'), k.truths && (raw[0] == 't' || raw[0] == 'f'):
		return k.text(string(raw))
	}
	return zero, fmt.Errorf("%s is of the wrong type", raw)
}

func durations() kind[time.Duration] {
	return kind[time.Duration]{what: "a duration such as 14s, 10m or 30d", text: ParseDuration,
		compare: cmp.Compare[time.Duration], show: formatDuration}
}

// keepFor is a duration, or for ever.
func keepFor() kind[time.Duration] {
	k := durations()
	k.what += ", or `forever`"
	k.compare = nil
	k.text = func(s string) (time.Duration, error) {
		if s == "forever" {
			return 0, nil
		}
		d, err := ParseDuration(s)
		if err == nil && d <= 0 {
			err = errors.New("it is not positive")
		}
		return d, err
	}
	k.show = func(d time.Duration) string {
		if d == 0 {
			return "forever"
		}
		return formatDuration(d)
	}
	return k
}

func sizes() kind[int64] {
	return kind[int64]{what: "a size such as 8MiB, or a number of bytes", numbers: true, text: ParseSize,
		compare: cmp.Compare[int64], show: formatSize}
}

func counts() kind[int] {
	return kind[int]{what: "a whole number", numbers: true, compare: cmp.Compare[int], show: strconv.Itoa,
		text: func(s string) (int, error) {
			n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
			if err != nil {
				return 0, errors.New("it is not a whole number")
			}
			return n, nil
		}}
}

func truths() kind[bool] {
	return kind[bool]{what: "true or false", truths: true, show: strconv.FormatBool,
		text: func(s string) (bool, error) {
			switch s {
			case "true", "1":
				return true, nil
			case "false", "0":
				return false, nil
			}
			return false, errors.New("it is neither true nor false")
		}}
}

func texts(what string, check func(string) error) kind[string] {
	return kind[string]{what: what, check: check,
		text: func(s string) (string, error) { return s, nil },
		show: func(s string) string { return s }}
}

// choices are the words of the row's range.
func choices(of string) kind[string] {
	return texts("one of "+of, func(s string) error {
		for _, c := range strings.Fields(strings.ReplaceAll(of, ",", " ")) {
			if s == c {
				return nil
			}
		}
		return errors.New("it is none of them")
	})
}

// lists are JSON lists of texts, each of which passes check.
func lists(what string, check func(string) error) kind[[]string] {
	return kind[[]string]{what: what,
		raw: func(raw json.RawMessage) ([]string, error) {
			var l []string
			if err := json.Unmarshal(raw, &l); err != nil || l == nil {
				return nil, errors.New("it is not a JSON list of texts")
			}
			return l, nil
		},
		check: func(l []string) error {
			for _, s := range l {
				if err := check(s); err != nil {
					return fmt.Errorf("%q: %w", s, err)
				}
			}
			return nil
		},
		show: showJSON[[]string],
	}
}

// showJSON is v as JSON; what was never set is nothing, not null.
func showJSON[T any](v T) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if string(b) == "null" {
		return ""
	}
	return string(b)
}

// ParseDuration reads a duration as Go writes it, with `d` for 24 hours beside Go's units.
func ParseDuration(s string) (time.Duration, error) {
	if days, rest, ok := strings.Cut(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, errors.New("it is not a duration")
		}
		d := time.Duration(n) * 24 * time.Hour
		if rest == "" {
			return d, nil
		}
		more, err := time.ParseDuration(rest)
		if err != nil || more < 0 {
			return 0, errors.New("it is not a duration")
		}
		return d + more, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, errors.New("it is not a duration")
	}
	return d, nil
}

func formatDuration(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 2*day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

// sizeUnits are the units of sizes, the largest first.
var sizeUnits = []struct {
	name string
	of   int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// ParseSize reads a number of bytes: a whole number, plain or with KiB, MiB, GiB or TiB behind it.
func ParseSize(s string) (int64, error) {
	unit := int64(1)
	for _, u := range sizeUnits {
		if number, ok := strings.CutSuffix(s, u.name); ok {
			s, unit = strings.TrimSpace(number), u.of
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return 0, errors.New("it is not a size")
	}
	return n * unit, nil
}

func formatSize(n int64) string {
	for _, u := range sizeUnits {
		if n != 0 && n%u.of == 0 {
			return strconv.FormatInt(n/u.of, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}
