package settings

import (
	"net"

	"brabo.dev/runner/runner/failure"
)

// fitTogether checks what no value can be judged by alone.
func (s Settings) fitTogether() error {
	if (s.Hub.TLSCert == "") != (s.Hub.TLSKey == "") {
		return s.misfit("hub.tls_cert", "a certificate and its key come together", "set both `hub.tls_cert` and `hub.tls_key`, or none")
	}
	if s.Hub.TLSCert == "" && !loopback(s.Hub.Listen) {
		return s.misfit("hub.listen", "others could read and change what goes over the network to it",
			"set `hub.tls_cert` and `hub.tls_key`, or listen on 127.0.0.1")
	}
	return nil
}

func (s Settings) misfit(name, cause, next string) error {
	subject := "`" + name + "`"
	if o := s.origins[name]; o.Name != "" {
		subject += " (from " + o.Name + ")"
	}
	return failure.New(failure.SettingInvalid, subject).Because("%s", cause).Then("%s", next)
}

// loopback reports whether only this machine can reach the address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
