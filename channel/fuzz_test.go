package channel

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func FuzzDecodeText(f *testing.F) {
	for _, seed := range []string{
		`["1","2","terminal:1","phx_reply",{"status":"ok","response":{}}]`,
		`[null,null,"t","e",null]`, `[1,2.5e3,null,"e",[]]`, `[1,2,3,4,5]`, `[]`, `{}`, `null`, ``,
		`["1","2","t","e",{},"more"]`, ` [ "1" , 2 , "t]\\\"," , "e" , { "a" : [ "},{" ] } ] `, `["\u0000","\ud800","\"","\\",""]`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decodeText(data)
		if err != nil {
			return
		}
		var parts [5]json.RawMessage
		if err := json.Unmarshal(data, &parts); err != nil || !bytes.Equal(m.Payload, parts[4]) {
			t.Errorf("%q: the payload is read as %q, and is %q (%v)", data, m.Payload, parts[4], err)
		}
		again, err := encodeText(m.JoinRef, m.Ref, m.Topic, m.Event, m.Payload)
		if err != nil {
			t.Fatalf("%q was read, but can't be written: %v", data, err)
		}
		back, err := decodeText(again)
		if err != nil {
			t.Fatalf("%q was written as %q, which can't be read: %v", data, again, err)
		}
		// The encoder leaves blanks out and may write a character in another way.
		if back.Topic != m.Topic || back.Event != m.Event || back.Ref != m.Ref || back.JoinRef != m.JoinRef ||
			!json.Valid(back.Payload) {
			t.Errorf("%q came back as %+v", data, back)
		}
		_, _, _ = decodeReply(m) // must not panic, whatever it says
		_ = reasonIn(m.Payload)
	})
}

func FuzzDecodeBinary(f *testing.F) {
	f.Add([]byte("\x00\x01\x01\x0a\x0412terminal:1echo\xde\xad"), true)
	f.Add([]byte("\x00\x01\x0b\x041terminal:bpblob\x00\x01"), false)
	f.Add([]byte("\x01\x01\x01\x01\x0212tok!"), false)
	f.Add([]byte("\x02\x01\x01te"), false)
	f.Add([]byte("\x00\xff\xff\xff\xff"), true)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, data []byte, client bool) {
		from := fromServer
		if client {
			from = fromClient
		}
		m, err := decodeBinary(data, from)
		if err != nil {
			return
		}
		fields := []string{m.JoinRef.Text(), m.Ref.Text(), m.Topic, m.Event}
		switch {
		case data[0] == binaryReply:
			fields[3] = m.status
		case data[0] == binaryBroadcast:
			fields = fields[2:]
		case from == fromServer:
			fields = []string{m.JoinRef.Text(), m.Topic, m.Event}
		}
		for _, field := range fields[:len(fields)-2] {
			if strings.ToValidUTF8(field, "") != field || strings.Contains(field, "\ufffd") {
				return // a ref that is not text is not kept byte for byte
			}
		}
		again, err := encodeBinary(data[0], m.Binary, fields...)
		if err != nil || !bytes.Equal(again, data) {
			t.Errorf("%x came back as %x, %v", data, again, err)
		}
	})
}

func TestBadFramesAreRefusedByName(t *testing.T) {
	tests := map[string]struct {
		data string
		want error // nil: any
	}{
		"not JSON":           {`{not json`, nil},
		"empty":              {``, nil},
		"object":             {`{"topic":"t","event":"e","payload":{},"ref":"1"}`, errNotArray},
		"null":               {`null`, errNotArray},
		"four elements":      {`["1","2","t","e"]`, errTooShort},
		"no elements":        {`[]`, errTooShort},
		"ref is an object":   {`["1",{},"t","e",{}]`, errBadRef},
		"ref is true":        {`[true,"1","t","e",{}]`, errBadRef},
		"topic is a number":  {`["1","2",3,"e",{}]`, errBadTopic},
		"event is null":      {`["1","2","t",null,{}]`, errBadEvent},
		"event is a list":    {`["1","2","t",[],{}]`, errBadEvent},
		"not UTF-8":          {"[\"1\",\"2\",\"t\",\"\xff\",{}]", errNotUTF8},
		"nested for ever":    {strings.Repeat("[", 1<<20), nil},
		"two arrays":         {`["1","2","t","e",{}]["1","2","t","e",{}]`, nil},
		"trailing rubbish":   {`["1","2","t","e",{}]x`, nil},
		"unclosed last item": {`["1","2","t","e",{`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := decodeText([]byte(tt.data))
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
	for _, data := range []string{"", "\x00", "\x03\x01\x01te", "\x01\xff\x01\x01\x01x", "[\"1\"]", "\x02\x01"} {
		if _, err := decodeBinary([]byte(data), fromServer); !errors.Is(err, errBadBinary) {
			t.Errorf("%q: %v", data, err)
		}
	}
	if _, err := decodeBinary([]byte("\x02\x01\x01te"), fromClient); !errors.Is(err, errBadBinary) {
		t.Errorf("a client's broadcast: %v", err)
	}
}

func TestOddButGoodFramesAreRead(t *testing.T) {
	tests := map[string]struct {
		data string
		want Message
	}{
		"numeric refs":  {`[1,2,"t","e",{}]`, Message{JoinRef: "1", Ref: "2", Topic: "t", Event: "e", Payload: json.RawMessage(`{}`)}},
		"null payload":  {`[null,null,"t","e",null]`, Message{Topic: "t", Event: "e", Payload: json.RawMessage(`null`)}},
		"null topic":    {`[null,"2",null,"e",1]`, Message{Ref: `"2"`, Event: "e", Payload: json.RawMessage(`1`)}},
		"empty refs":    {`["","","t","e",""]`, Message{Topic: "t", Event: "e", Payload: json.RawMessage(`""`)}},
		"six elements":  {`["1","2","t","e",{},"x"]`, Message{JoinRef: `"1"`, Ref: `"2"`, Topic: "t", Event: "e", Payload: json.RawMessage(`{}`)}},
		"escaped topic": {`["1","2","\u0074\"","e",{}]`, Message{JoinRef: `"1"`, Ref: `"2"`, Topic: `t"`, Event: "e", Payload: json.RawMessage(`{}`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m, err := decodeText([]byte(tt.data))
			if err != nil {
				t.Fatal(err)
			}
			if m.JoinRef != tt.want.JoinRef || m.Ref != tt.want.Ref || m.Topic != tt.want.Topic ||
				m.Event != tt.want.Event || string(m.Payload) != string(tt.want.Payload) {
				t.Errorf("read %+v, want %+v", m, tt.want)
			}
		})
	}
}

func TestBinaryFieldsAreAtMost255Bytes(t *testing.T) {
	if _, err := encodeBinary(binaryPush, nil, strings.Repeat("x", 256)); err == nil {
		t.Error("a field of 256 bytes was written")
	}
	if _, err := encodeBinary(binaryPush, nil, strings.Repeat("x", 255)); err != nil {
		t.Error(err)
	}
}
