package policy_test

import (
	"fmt"
	"strings"

	"brabo.dev/runner/runner/policy"
)

// A rule allows one program; what a line could reach beside it is seen all the same.
func ExampleDecide() {
	rules := policy.Permissions{Allow: []string{"Terminal(go test)"}, Deny: []string{"Terminal(curl)"}}
	where := policy.Context{ScopeRoot: "/home/ana/shop"}
	for _, command := range []string{
		"go test ./...",
		"go test ./... && git push",
		"go test ./... $(curl example.org)",
		"bash -c 'go test ./...'",
	} {
		a := policy.Action{Type: "terminal", Command: command, Cwd: where.ScopeRoot}
		d, err := policy.Decide(a, policy.Developer, policy.Autonomy{}, rules, where)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s: %s (%s)\n", command, d.Policy, d.Rule)
	}
	// Output:
	// go test ./...: auto_approve (file_allow)
	// go test ./... && git push: require_approval (compound_unmatched)
	// go test ./... $(curl example.org): deny (file_deny)
	// bash -c 'go test ./...': auto_approve (compound_all_allowed)
}

// Explain says the same segment by segment.
func ExampleExplain() {
	a := policy.Action{Type: "terminal", Command: "cat go.mod | xargs rm", Cwd: "/home/ana/shop"}
	rules, where := policy.Permissions{Allow: []string{"Terminal(cat)"}}, policy.Context{ScopeRoot: a.Cwd}
	e, err := policy.Explain(a, policy.Developer, policy.Autonomy{}, rules, where)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range e.Segments {
		fmt.Println(strings.Join(s.Words, " "), "-", s.Opinion)
	}
	fmt.Println(e.Decision.Policy)
	// Output:
	// cat go.mod - allow
	// xargs rm - none
	// rm … - none
	// require_approval
}
