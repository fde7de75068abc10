package main

import (
	"context"
	"maps"
	"testing"
	"time"

	"goa.design/goa-ai/runtime/agent/memory"
	"memcell-host/runhistory"
)

// Runs beside the programs of host/polyglot/go/runhistory/README.md.
func TestTheConverterKeepsEvents(t *testing.T) {
	host, err := Open("run-history.wasm", t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	alice := "alice"
	ours, err := runhistory.NewStore(runhistory.Options{Call: func(ctx context.Context, tool string, input []byte) ([]byte, error) {
		return host.Call(Request{Tool: tool, Audience: "host", UserID: &alice, Input: input, Context: ctx}), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	var store memory.Store = goaStore{ours}
	ctx, result := context.Background(), memory.ToolResultData{Duration: 104 * 24 * time.Hour}
	for _, data := range []any{result, &result, result.ToMap()} {
		labels := map[string]string{"k": "v"}
		event := memory.Event{Type: "tool_result", Timestamp: time.Unix(1, 123456789), Data: data, Labels: labels}
		if err := store.AppendEvents(ctx, "agent", "run", event); err != nil {
			t.Fatal(err)
		}
	}
	snapshot, err := store.LoadRun(ctx, "agent", "run")
	if err != nil || snapshot.AgentID != "agent" || snapshot.RunID != "run" || len(snapshot.Events) != 3 || snapshot.Meta == nil {
		t.Fatal(snapshot, err)
	}
	for _, event := range snapshot.Events {
		found, err := memory.DecodeToolResultData(event)
		isSame := event.Timestamp.Equal(time.Unix(1, 123456789)) && maps.Equal(event.Labels, map[string]string{"k": "v"})
		if err != nil || found != result || event.Type != "tool_result" || !isSame {
			t.Error(event, found, err)
		}
	}
	if err := store.AppendEvents(ctx, "", ""); err != nil {
		t.Error(err)
	}
	if _, err := store.LoadRun(ctx, "", ""); err == nil || err.Error() != "agent id is required" {
		t.Error(err)
	}
}
