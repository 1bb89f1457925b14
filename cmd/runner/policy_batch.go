package main

import (
	"errors"
	"fmt"
	"io"

	"brabo.dev/runner/runner/policy"
)

// batchAnswer is the answer to one line of `runner policy check --batch`.
type batchAnswer struct {
	ID     string         `json:"id"`
	Policy policy.Verdict `json:"policy"`
	Rule   policy.Rule    `json:"rule"`
	Reason string         `json:"reason"`
}

// batchError stands in place of a verdict where a line can't be decided about.
const batchError policy.Verdict = "error"

// checkBatch answers each line of in with a line on out, in order and before it reads the next.
func checkBatch(in io.Reader, out io.Writer) error {
	lines := policy.NewLines(in)
	for {
		text, number, err := lines.Next()
		answer := batchAnswer{Policy: batchError}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, policy.ErrLineTooLong):
			answer.Reason = fmt.Sprintf("line %d: %v", number, err)
		case err != nil:
			return fmt.Errorf("reading line %d: %w", number, err)
		default:
			answer = decideLine(text, number)
		}
		if err := writeJSON(out, answer); err != nil {
			return err
		}
	}
}

func decideLine(text []byte, number int) batchAnswer {
	id, p, err := policy.ReadProposal(text, number)
	if err != nil {
		return batchAnswer{ID: id, Policy: batchError, Reason: err.Error()}
	}
	d, err := policy.Decide(p.Action, p.Role, p.Autonomy, p.Permissions, p.Context)
	if err != nil {
		return batchAnswer{ID: id, Policy: batchError, Reason: err.Error()}
	}
	return batchAnswer{id, d.Policy, d.Rule, d.Reason}
}
