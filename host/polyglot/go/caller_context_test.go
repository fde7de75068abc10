package main

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"
)

func codeAndMessage(t *testing.T, envelope json.RawMessage) [2]string {
	t.Helper()
	var answer struct{ Error Refusal }
	if err := json.Unmarshal(envelope, &answer); err != nil {
		t.Fatal(err)
	}
	return [2]string{answer.Error.Code, answer.Error.Message}
}

func openPuppet(t *testing.T) (host *Host, data string) {
	t.Helper()
	data = t.TempDir()
	host, err := Open(built+"test-plugins/puppet.wasm", data, Options{DeadlineMs: 5000})
	if err != nil {
		t.Fatalf("%v: run npm run build:test-plugins first", err)
	}
	return host, data
}

// A guest that spins has staged a file. When its caller's context ends, the call ends and the file is not written.
func TestAContextEndsAGuest(t *testing.T) {
	host, data := openPuppet(t)
	alice := "alice"
	write := `{"of":"store_write","ask":{"scope":"memory","path":"a.md","content":"x"}}`
	request := Request{Tool: "Puppet", Audience: "model", UserID: &alice, Input: []byte(`[` + write + `,{"spin":true}]`)}
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	request.Context = ctx
	expectEqual(t, "failure", codeAndMessage(t, host.Call(request)),
		[2]string{"CANCELLED", "Cannot call Puppet: the caller cancelled it"})
	if users, err := os.ReadDir(data + "/users"); err == nil {
		t.Error(users)
	}
	request.Input, request.Context = []byte(`[`+write+`]`), context.Background()
	expectEqual(t, "failure", codeAndMessage(t, host.Call(request)), [2]string{})
}

func TestTheHostsOwnDeadlineIsNoCancellation(t *testing.T) {
	host, _ := openPuppet(t)
	host.manifest.DeadlineMs = 50
	alice := "alice"
	request := Request{Tool: "Puppet", Audience: "model", UserID: &alice, Input: []byte(`[{"spin":true}]`)}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for _, request.Context = range []context.Context{nil, ctx} {
		expectEqual(t, "code", codeAndMessage(t, host.Call(request))[0], "DEADLINE_EXCEEDED")
	}
}
