package settings

import (
	"strings"
)

// Kind is the sort of place that a value comes from.
type Kind string

// The places, from the strongest to the weakest.
const (
	FromFlag        Kind = "flag"
	FromEnvironment Kind = "environment"
	FromProject     Kind = "project file" // brabo-runner.config.json
	FromFile        Kind = "file"         // config.json
	FromBase        Kind = "base file"    // runner.json
	FromPairing     Kind = "pairing"
	FromFolder      Kind = "working folder"
	FromDefault     Kind = "default"
)

// Origin says where a value came from.
type Origin struct {
	Kind Kind
	Name string // the flag, the variable, or the file with its line; "" for a default
}

// String is the origin as `config show` and failures print it.
func (o Origin) String() string {
	if o.Name == "" {
		return string(o.Kind)
	}
	return o.Name
}

// Origin says where the value of the setting called name came from.
func (s Settings) Origin(name string) Origin { return s.origins[name] }

// Value is one setting as `config show` prints it.
type Value struct {
	Name   string `json:"name"`
	Text   string `json:"value"` // passwords in URLs and values of environment variables are masked
	Origin Origin `json:"-"`
	From   string `json:"origin"`
}

// Values gives every setting in the table's order.
func (s Settings) Values() []Value {
	var all []Value
	for _, r := range rows(Sources{}) {
		o := s.origins[r.Name]
		all = append(all, Value{r.Name, r.show(&s), o, o.String()})
	}
	return all
}

// flagName is the flag of the setting called name, where a command has one.
func flagName(name string) string {
	return "--" + strings.NewReplacer(".", "-", "_", "-").Replace(name)
}

// variableName is the environment variable of the setting called name.
func variableName(name string) string {
	return "RUNNER_" + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}
