// Package channel speaks Phoenix Channels, version 2 of the protocol, over a
// WebSocket: the client that the daemon serves its projects with, and the
// server half that the hub stands on.
//
// # Client
//
// A [Dialer] makes one [Conn] from one URL and never dials again by itself,
// because the ticket in the URL works once. On it [Conn.Join] opens a
// [Channel], whose messages arrive in the order in which they were sent and at
// the pace of whoever reads [Channel.Receive]. When and how often to connect is
// the caller's decision.
//
// A Conn owns two goroutines, one that reads and one that keeps the heartbeat,
// and one more for each joined channel. [Conn.Close] ends them and waits for
// them; it has to be called also after the connection ended by itself.
//
// That a push was written says nothing about its fate. It is known to have been
// read when its reply came ([Channel.Call]), or when [Conn.Sync], begun after
// it, returned without error while [Channel.Err] was still nil.
//
// # Server
//
// A [Server] is an http.Handler. For each connection it owns one goroutine that
// reads and one that writes, and one for each joined channel, in which the
// channel's [Handler] is called. [Server.Shutdown] ends them and waits for them.
//
// # What holds for both
//
// Payloads stay raw JSON until their receiver decodes them. Whatever waits is
// bounded: a side that does not read is pushed back to its socket, and then
// disconnected with a reason. Nothing is stored and nothing is shared between
// connections.
package channel
