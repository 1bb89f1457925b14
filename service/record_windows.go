package service

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/windows/registry"
)

// services is where Windows keeps what it knows of each service; a service keeps its own values in Parameters below.
const services = `SYSTEM\CurrentControlSet\Services`

const recordValue = "Definition"

// writeRecord keeps d beside the registration of the service called name.
func writeRecord(name string, d Definition) error {
	raw, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("recording the service: %w", err)
	}
	key, _, err := registry.CreateKey(registry.LOCAL_MACHINE, services+`\`+name+`\Parameters`, registry.SET_VALUE)
	if err != nil {
		return fmt.Errorf("recording the service: %w", err)
	}
	defer key.Close()
	return key.SetStringValue(recordValue, string(raw))
}

// records gives the definitions of the services that this package has registered.
func records() []Definition {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, services, registry.ENUMERATE_SUB_KEYS)
	if err != nil {
		return nil
	}
	defer key.Close()
	all, err := key.ReadSubKeyNames(-1)
	if err != nil {
		return nil
	}
	slices.Sort(all)
	var found []Definition
	for _, name := range all {
		if name != "runner" && !strings.HasPrefix(name, "runner-") {
			continue
		}
		if d, ok := record(name); ok {
			found = append(found, d)
		}
	}
	return found
}

func record(name string) (d Definition, ok bool) {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, services+`\`+name+`\Parameters`, registry.QUERY_VALUE)
	if err != nil {
		return d, false
	}
	defer key.Close()
	raw, _, err := key.GetStringValue(recordValue)
	return d, err == nil && json.Unmarshal([]byte(raw), &d) == nil
}
