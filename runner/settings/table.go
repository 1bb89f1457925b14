package settings

import (
	"encoding/json"
	"fmt"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// Row is one setting as the documentation has it.
type Row struct {
	Name     string `json:"name"`
	Variable string `json:"variable"`
	Default  string `json:"default"`
	Range    string `json:"range"`
	Meaning  string `json:"meaning"`
}

// Table gives every setting in the order of the documentation.
func Table() []Row {
	var all []Row
	for _, r := range rows(Sources{}) {
		all = append(all, r.Row)
	}
	return all
}

// row is a setting with its place in Settings and what is needed to fill it.
type row struct {
	Row
	// start is the default as a variable would have it: Default itself unless withStart says otherwise; "" leaves the
	// zero value.
	start string
	// limits is the range that counts now: Range itself unless withLimits says otherwise.
	limits string
	bound  binding
}

// binding ties a kind of value to a field.
type binding struct {
	what   string
	text   func(s *Settings, text, limits string) error
	json   func(s *Settings, raw json.RawMessage, limits string) error
	show   func(s *Settings) string
	ranged bool
}

// setting makes a row; the field is where its value lives.
func setting[T any](name, initial, limits string, k kind[T], field func(*Settings) *T, meaning string) row {
	keep := func(s *Settings, v T, err error, limits string) error {
		if err == nil && k.check != nil {
			err = k.check(v)
		}
		if err == nil && k.compare != nil && limits != "" {
			err = k.inside(v, limits)
		}
		if err == nil {
			*field(s) = v
		}
		return err
	}
	return row{
		Row:    Row{Name: name, Variable: variableName(name), Default: initial, Range: limits, Meaning: meaning},
		start:  initial,
		limits: limits,
		bound: binding{
			what:   k.what,
			ranged: k.compare != nil && limits != "",
			text: func(s *Settings, text, limits string) error {
				v, err := k.parse(text)
				return keep(s, v, err, limits)
			},
			json: func(s *Settings, raw json.RawMessage, limits string) error {
				v, err := k.parseJSON(raw)
				return keep(s, v, err, limits)
			},
			show: func(s *Settings) string { return k.show(*field(s)) },
		},
	}
}

// inside checks v against a range such as 5s-10m.
func (k kind[T]) inside(v T, limits string) error {
	low, high, _ := strings.Cut(limits, "-")
	lo, err := k.text(low)
	if err != nil {
		return fmt.Errorf("the range %s of the table: %w", limits, err)
	}
	hi, err := k.text(strings.ReplaceAll(high, ",", ""))
	if err != nil {
		return fmt.Errorf("the range %s of the table: %w", limits, err)
	}
	if k.compare(v, lo) < 0 || k.compare(v, hi) > 0 {
		return fmt.Errorf("it lies outside %s", limits)
	}
	return nil
}

// withStart gives a default that the documentation puts into words.
func (r row) withStart(text string) row {
	r.start = text
	return r
}

// withLimits gives a range that depends on where the daemon runs.
func (r row) withLimits(limits string) row {
	r.limits = limits
	r.bound.ranged = true
	return r
}

// init puts the default in place.
func (r row) init(s *Settings) error {
	if r.start == "" {
		return nil
	}
	if err := r.bound.text(s, r.start, r.limits); err != nil {
		return fmt.Errorf("the default of %s: %w", r.Name, err)
	}
	return nil
}

// setText puts the value of a flag or variable in place.
func (r row) setText(s *Settings, text string, from Origin) error {
	if err := r.bound.text(s, text, r.limits); err != nil {
		return failure.New(failure.SettingInvalid, from.Name).
			Because("%q is no value for `%s`: %v", r.safe(text), r.Name, err).
			Then("correct %s: it must be %s", from.Name, r.wants()).Wrap(err)
	}
	s.origins[r.Name] = from
	return nil
}

// wants says what a value of this row must be.
func (r row) wants() string {
	if r.bound.ranged {
		return r.bound.what + ", from " + strings.Replace(r.limits, "-", " to ", 1)
	}
	return r.bound.what
}

// safe is a refused value as a message may show it: what can carry a password is not shown.
func (r row) safe(text string) string {
	switch r.Name {
	case "proxy", "commands.environment", "api_url", "container.engine":
		return "the value"
	}
	const most = 80
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

func (r row) show(s *Settings) string { return r.bound.show(s) }
