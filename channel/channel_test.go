package channel_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"brabo.dev/runner/channel"
)

func TestJoinGivesTheResponseAndSendsAnyParams(t *testing.T) {
	h := newHub(t, nil)
	conn := h.dial(t, &channel.Dialer{}, "t")
	params := map[string]any{"capacidades": []string{"exec", "ext:output"}}
	ch, response, err := conn.Join(testContext(t), "terminal:1", params)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"params":{"capacidades":["exec","ext:output"]},"topic":"terminal:1"}`
	if string(response) != want {
		t.Errorf("response %s, want %s", response, want)
	}
	if ch.Topic() != "terminal:1" || ch.Err() != nil || conn.Err() != nil {
		t.Errorf("topic %q, errors %v and %v", ch.Topic(), ch.Err(), conn.Err())
	}
}

func TestRefusedJoinIsTypedAndTheConnectionLives(t *testing.T) {
	h := newHub(t, nil)
	conn := h.dial(t, &channel.Dialer{}, "t")
	for topic, reason := range map[string]string{
		"terminal:refuse": "unauthorized",
		"terminal:crash":  "join crashed",
		"terminal:panic":  "join crashed",
		"nope:1":          "unmatched topic",
	} {
		_, _, err := conn.Join(testContext(t), topic, nil)
		var refused *channel.JoinError
		if !errors.As(err, &refused) {
			t.Fatalf("%s: %v is no *JoinError", topic, err)
		}
		if refused.Reason() != reason || refused.Status != "error" || refused.Topic != topic {
			t.Errorf("%s: %+v with reason %q, want %q", topic, refused, refused.Reason(), reason)
		}
	}
	join(t, conn, "terminal:1")
}

func TestCallReturnsTheReplyByItsStatus(t *testing.T) {
	h := newHub(t, nil)
	ch := join(t, h.dial(t, &channel.Dialer{}, "t"), "terminal:1")
	ctx := testContext(t)

	got, err := ch.Call(ctx, "echo", json.RawMessage(`{"big":12345678901234567890,"s":"é<&>"}`))
	if err != nil || string(got) != `{"big":12345678901234567890,"s":"é<&>"}` {
		t.Errorf("echo: %s, %v", got, err)
	}
	for event, status := range map[string]string{"fail": "error", "partial": "partial"} {
		_, err := ch.Call(ctx, event, nil)
		var refused *channel.ReplyError
		if !errors.As(err, &refused) || refused.Status != status {
			t.Errorf("%s: %v, want status %q", event, err, status)
		}
	}
	data, err := ch.CallBinary(ctx, "echo", channel.Binary("\xde\xad"))
	if err != nil || string(data) != "\xde\xad" {
		t.Errorf("binary echo: %x, %v", data, err)
	}
	if _, err := ch.Call(ctx, "echo", channel.Binary("x")); !errors.Is(err, channel.ErrBinaryReply) {
		t.Errorf("a binary reply to Call: %v", err)
	}
}

func TestCallThatIsNeverAnsweredEndsWithItsContextAndLeavesNothing(t *testing.T) {
	h := newHub(t, nil)
	ch := join(t, h.dial(t, &channel.Dialer{}, "t"), "terminal:1")
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() {
		_, err := ch.Call(ctx, "exec_result", map[string]string{"ref": "x"})
		result <- err
	}()
	next(t, h.handled, "call at the server")
	cancel()
	if err := next(t, result, "end of the call"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v is no cancellation", err)
	}
	if _, err := ch.Call(testContext(t), "echo", nil); err != nil {
		t.Errorf("the channel is of no use after it: %v", err)
	}
}

func TestServerPushBroadcastAndReplyArriveInOrder(t *testing.T) {
	h := newHub(t, nil)
	ch := join(t, h.dial(t, &channel.Dialer{}, "t"), "terminal:pushjoin")
	sc := next(t, h.joins, "join")
	if err := sc.Push("exec", map[string]int{"n": 2}); err != nil {
		t.Fatal(err)
	}
	if err := h.Broadcast("terminal:pushjoin", "note", map[string]int{"n": 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Call(testContext(t), "push_then_reply", map[string]int{"n": 4}); err != nil {
		t.Fatal(err)
	}
	if err := ch.Push(testContext(t), "blob", nil); err != nil {
		t.Fatal(err)
	}
	want := []string{`exec {"id":"first"}`, `exec {"n":2}`, `note {"n":3}`, `exec {"n":4}`, "blob \x00\x01\x02\xff"}
	for _, w := range want {
		m := next(t, ch.Receive(), "message")
		if got := m.Event + " " + string(m.Payload) + string(m.Binary); got != w {
			t.Errorf("received %q, want %q", got, w)
		}
		if m.Ref != "" || (m.JoinRef == "") != (m.Event == "note") {
			t.Errorf("%s has the refs %q and %q", m.Event, m.JoinRef, m.Ref)
		}
	}
}

func TestChannelEndsTypedWhileTheConnectionLives(t *testing.T) {
	tests := map[string]struct {
		event string
		end   channel.ChannelEnd
		text  string
	}{
		"handler panics":           {"crash", channel.ChannelCrashed, "channel: terminal:1 crashed: channel_crash"},
		"server stops it":          {"stop", channel.ChannelClosed, "channel: terminal:1 closed"},
		"server stops it in anger": {"stop_error", channel.ChannelCrashed, "channel: terminal:1 crashed: boom"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, nil)
			conn := h.dial(t, &channel.Dialer{}, "t")
			ch := join(t, conn, "terminal:1")
			_, err := ch.Call(testContext(t), tt.event, nil)
			var end *channel.ChannelError
			if !errors.As(err, &end) || end.End != tt.end || end.Error() != tt.text {
				t.Errorf("call ended with %v", err)
			}
			gone(t, ch.Receive(), "channel")
			if err := ch.Push(testContext(t), "x", nil); !errors.As(err, &end) || end.End != tt.end {
				t.Errorf("push after it: %v", err)
			}
			next(t, h.closed, "Closed")
			again := join(t, conn, "terminal:1")
			if _, err := again.Call(testContext(t), "echo", nil); err != nil {
				t.Errorf("rejoined channel: %v", err)
			}
		})
	}
}

func TestLeaveEndsTheChannelAndRunsClosedFirst(t *testing.T) {
	h := newHub(t, nil)
	conn := h.dial(t, &channel.Dialer{}, "t")
	ch := join(t, conn, "terminal:1")
	if err := ch.Leave(testContext(t)); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-h.closed:
		var end *channel.ChannelError
		if !errors.As(err, &end) || end.End != channel.ChannelLeft {
			t.Errorf("handler closed with %v", err)
		}
	default:
		t.Error("the reply to leave came before Closed")
	}
	gone(t, ch.Receive(), "channel")
	var end *channel.ChannelError
	if !errors.As(ch.Err(), &end) || end.End != channel.ChannelLeft {
		t.Errorf("channel ended with %v", ch.Err())
	}
	if err := ch.Push(testContext(t), "x", nil); !errors.As(err, &end) || end.End != channel.ChannelLeft {
		t.Errorf("push after leaving: %v", err)
	}
	join(t, conn, "terminal:1")
}

func TestSecondJoinOfATopicReplacesTheFirst(t *testing.T) {
	h := newHub(t, nil)
	conn := h.dial(t, &channel.Dialer{}, "t")
	first := join(t, conn, "terminal:1")
	second := join(t, conn, "terminal:1")
	gone(t, first.Receive(), "first channel")
	var end *channel.ChannelError
	if !errors.As(first.Err(), &end) || end.End != channel.ChannelReplaced {
		t.Errorf("first channel ended with %v", first.Err())
	}
	if err := next(t, h.closed, "Closed"); !errors.As(err, &end) || end.End != channel.ChannelReplaced {
		t.Errorf("first handler closed with %v", err)
	}
	if err := conn.Sync(testContext(t)); err != nil { // the old phx_close has been read
		t.Fatal(err)
	}
	if _, err := second.Call(testContext(t), "echo", nil); err != nil {
		t.Errorf("second channel: %v", err)
	}
	if err := h.Broadcast("terminal:1", "note", nil); err != nil {
		t.Fatal(err)
	}
	if m := next(t, second.Receive(), "broadcast"); m.Event != "note" {
		t.Errorf("received %s", m.Event)
	}
}
