package channel

import (
	"encoding/json"
	"errors"
	"fmt"
)

// EndReason says why a connection ended.
type EndReason string

// The reasons for which a connection ends.
const (
	// EndCancelled: this side closed it, or the context of the dial ended.
	EndCancelled EndReason = "cancelled"
	// EndClosedByServer: the server sent a close frame. Its code does not say
	// whether to connect again: 1000 and 1001 are a forced disconnect as well as
	// a shutdown, 1002 may be an idle timeout, 1012 is a restart.
	EndClosedByServer EndReason = "closed_by_server"
	// EndClosedByClient is the same seen by the server half.
	EndClosedByClient EndReason = "closed_by_client"
	// EndHeartbeatLost: a heartbeat was not answered in time.
	EndHeartbeatLost EndReason = "heartbeat_lost"
	// EndProtocolError: the peer sent what can't be understood.
	EndProtocolError EndReason = "protocol_error"
	// EndReadLimit: the peer sent a message larger than the read limit.
	EndReadLimit EndReason = "read_limit"
	// EndNetwork: the connection broke, or a frame could not be written in time.
	EndNetwork EndReason = "network"

	// EndIdle: the client sent nothing for the server's idle timeout.
	EndIdle EndReason = "idle"
	// EndSlowReader: more waited for the client than its queue may hold.
	EndSlowReader EndReason = "slow_reader"
	// EndDisconnected: the server was told to disconnect this socket.
	EndDisconnected EndReason = "disconnected"
	// EndShutdown: the server is shutting down.
	EndShutdown EndReason = "shutdown"
)

// EndError says why and how a connection ended, or why it was not made.
type EndError struct {
	Reason EndReason
	Code   int    // close code of the peer, 1000 to 4999; 0 where none came
	Text   string // text in the peer's close frame
	Err    error  // what was behind it, if anything
}

func (e *EndError) Error() string {
	text := "channel: connection ended: " + string(e.Reason)
	if e.Code != 0 {
		text += fmt.Sprintf(" (code %d)", e.Code)
	}
	if e.Text != "" {
		text += fmt.Sprintf(": %q", e.Text)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *EndError) Unwrap() error { return e.Err }

// ChannelEnd says how one channel ended while its connection lived on.
type ChannelEnd string

// The ways in which a channel ends by itself.
const (
	ChannelClosed   ChannelEnd = "closed"   // phx_close: stopped in order
	ChannelCrashed  ChannelEnd = "crashed"  // phx_error: the server's side died
	ChannelLeft     ChannelEnd = "left"     // this side left
	ChannelReplaced ChannelEnd = "replaced" // joined again on the same connection
)

// ChannelError says that a channel ended and how.
type ChannelError struct {
	Topic   string
	End     ChannelEnd
	Payload json.RawMessage // of the phx_close or phx_error, if there was one
}

func (e *ChannelError) Error() string {
	text := fmt.Sprintf("channel: %s %s", e.Topic, e.End)
	if reason := reasonIn(e.Payload); reason != "" {
		text += ": " + reason
	}
	return text
}

// JoinError is the server's refusal to let us join.
type JoinError struct {
	Topic    string
	Status   string // "error", or any other word that is not "ok"
	Response json.RawMessage
}

func (e *JoinError) Error() string {
	return fmt.Sprintf("channel: join of %s refused with status %q: %s", e.Topic, e.Status, e.Reason())
}

// Reason is the reason field of the response, empty where there is none.
func (e *JoinError) Reason() string { return reasonIn(e.Response) }

// ReplyError is a reply to a call with any status but "ok".
type ReplyError struct {
	Topic    string
	Event    string // the event that was sent
	Status   string
	Response json.RawMessage
}

func (e *ReplyError) Error() string {
	return fmt.Sprintf("channel: %s on %s answered with status %q: %s", e.Event, e.Topic, e.Status, e.Reason())
}

// Reason is the reason field of the response, empty where there is none.
func (e *ReplyError) Reason() string { return reasonIn(e.Response) }

var (
	// ErrQueueFull: as much waits to be sent as the queue limit allows.
	ErrQueueFull = errors.New("channel: the queue of outgoing messages is full")
	// ErrBinaryReply: a call that wants JSON was answered with a binary frame.
	ErrBinaryReply = errors.New("channel: the reply is binary")
)

// reasonIn takes the reason out of a response by the convention that all
// Phoenix servers keep.
func reasonIn(response json.RawMessage) string {
	var r struct {
		Reason string `json:"reason"`
	}
	if json.Unmarshal(response, &r) != nil {
		return ""
	}
	return r.Reason
}
