// Package notify tells a service manager how a daemon stands: systemd, over the datagram socket that it names in
// NOTIFY_SOCKET; see sd_notify(3). Under any other manager, and under none, there is nobody to tell and nothing is done.
//
// Watch runs in its caller's goroutine and starts none.
package notify
