package control

import (
	"context"
	"net/http"
)

// LookAgain has the daemon ask its server at once which projects there are, instead of in a while. It returns when the
// daemon knows that it is to, not when it has. A daemon of one project has nothing to ask. Failures are those of Status.
func (c *Client) LookAgain(ctx context.Context) error {
	return c.post(ctx, "/projects", struct{}{}, &struct{}{})
}

func answerLookAgain(lookAgain func()) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if lookAgain != nil {
			lookAgain()
		}
		answer(w, http.StatusOK, struct{}{})
	}
}
