package page

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strconv"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/shown"
)

//go:embed templates
var templates embed.FS

// Device is what the page /device shows of a machine that asks to be let in (RFC 8628, 3.3). With an empty Code it asks
// for the code; with a Code it asks for the decision; with an Outcome it tells how it ended.
type Device struct {
	// Code is the user code as the machine shows it.
	Code string
	// Machine is the name that the machine gave itself; whoever controls it chose that name.
	Machine string
	// Fingerprint of the machine's key, as `runner login` prints it.
	Fingerprint string
	// Hidden are further fields of the form, such as a token against forged requests.
	Hidden map[string]string
	// Problem says why the code that was entered leads nowhere; empty: nothing was wrong.
	Problem string
	// Outcome is empty while the question is open, then DeviceApproved or DeviceDenied.
	Outcome string
}

// The outcomes of a Device, which are also the values of the form's field "decision".
const (
	DeviceApproved = "approve"
	DeviceDenied   = "deny"
)

// WriteDevice answers with the page /device. Its form is sent by POST to /device with the fields user_code and, once
// the machine is shown, decision.
func WriteDevice(w http.ResponseWriter, status int, d Device) { write(w, status, "device.html", d) }

// WriteSignIn answers somebody without a session, under status; problem says why a link did not work, or is empty.
func WriteSignIn(w http.ResponseWriter, status int, problem string) {
	write(w, status, "signin.html", struct{ Problem string }{problem})
}

// WriteSignedIn answers who has just signed in by a link: a page that goes on to / by itself. A redirect would not do,
// since a browser that came from another site's link keeps a strict cookie back from all the way there.
func WriteSignedIn(w http.ResponseWriter) {
	w.Header().Set("Referrer-Policy", "no-referrer") // its address signs in
	write(w, http.StatusOK, "signedin.html", nil)
}

// WriteFailure answers a request for a page with a failure, under status.
func WriteFailure(w http.ResponseWriter, status int, f *failure.Failure) {
	write(w, status, "failure.html", struct {
		Status int
		*failure.Failure
	}{status, f})
}

// write renders a template; nothing of it may be kept, since it is about this one visitor.
func write(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	t, err := template.New("").Funcs(template.FuncMap{"visible": shown.Text}).ParseFS(templates, "templates/frame.html", "templates/"+name)
	if err == nil {
		err = t.ExecuteTemplate(&b, "frame", data)
	}
	harden(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		http.Error(w, "the page can't be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	// An error here means that the browser is gone; nobody is left to be told.
	_, _ = w.Write(b.Bytes())
}
