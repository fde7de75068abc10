package main

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"memcell-host/runhistory"
)

func TestAStoredEventIsNotSharedWithItsReaders(t *testing.T) {
	store, ctx := openStore(t), context.Background()
	labels, data := map[string]string{"a": "b"}, map[string]any{"tool_call_id": "t1", "tool_name": "x", "list": []any{"c"}}
	given := []runhistory.Event{{Type: runhistory.EventToolCall, Data: data, Labels: labels}}
	if err := store.AppendEvents(ctx, "agent", "run", given...); err != nil {
		t.Fatal(err)
	}
	labels["a"], data["tool_call_id"], given[0].Type = "changed", "changed", runhistory.EventThinking
	for range 2 {
		events := load(t, store, "agent", "run").Events
		expectEqual(t, "events", len(events), 1)
		found := events[0].Data.(map[string]any)
		expectEqual(t, "type", events[0].Type, runhistory.EventToolCall)
		expectEqual(t, "labels", events[0].Labels, map[string]string{"a": "b"})
		expectEqual(t, "data", found, map[string]any{"tool_call_id": "t1", "tool_name": "x", "list": []any{"c"}})
		events[0].Type, events[0].Labels["a"], found["list"].([]any)[0] = runhistory.EventThinking, "changed", "changed"
	}
}

func TestAnUnknownRunIsEmpty(t *testing.T) {
	store := openStore(t)
	snapshot := load(t, store, "agent", "run")
	expectEqual(t, "ids", [2]string{snapshot.AgentID, snapshot.RunID}, [2]string{"agent", "run"})
	expectEqual(t, "meta", snapshot.Meta["bytes"], 0)
	if len(snapshot.Events) != 0 || snapshot.Meta == nil {
		t.Error(snapshot)
	}
	// Its cursor is good for the run that begins later.
	if err := store.AppendEvents(context.Background(), "agent", "run", note("first")); err != nil {
		t.Fatal(err)
	}
	since, err := store.LoadSince(context.Background(), "agent", "run", snapshot.Meta["cursor"].(string))
	expectEqual(t, "events", notesOf(since.Events), []string{"first"})
	expectEqual(t, "error", err, nil)
}

func TestAnEventWithoutATimeGetsTheTimeOfTheAppend(t *testing.T) {
	store := openStore(t)
	zone := time.FixedZone("", -3600)
	early := time.Date(2024, 1, 1, 11, 0, 0, 123456789, zone)
	first := runhistory.NewEvent(early, runhistory.UserMessageData{Message: "m"}, map[string]string{"k": "v"})
	before := time.Now().Add(-time.Millisecond)
	if err := store.AppendEvents(context.Background(), "agent", "run", first, note("a"), note("b")); err != nil {
		t.Fatal(err)
	}
	events := load(t, store, "agent", "run").Events
	expectEqual(t, "first time", events[0].Timestamp, early.UTC())
	expectEqual(t, "labels", []map[string]string{events[0].Labels, events[1].Labels}, []map[string]string{{"k": "v"}, nil})
	expectEqual(t, "first data", events[0].Data, any(map[string]any{"message": "m"}))
	expectEqual(t, "notes", notesOf(events[1:]), []string{"a", "b"})
	expectEqual(t, "last time", events[2].Timestamp, events[1].Timestamp)
	if at := events[1].Timestamp; at.Before(before) || at.After(time.Now()) {
		t.Error(at)
	}
}

func TestEventsAreInTheOrderOfTime(t *testing.T) {
	store := openStore(t)
	for _, batch := range [][]int64{{5, 1, 3}, {1, 4, 3}} {
		var events []runhistory.Event
		for _, at := range batch {
			name := string(rune('a'+len(events))) + string(rune('0'+at))
			events = append(events, runhistory.NewEvent(time.Unix(0, at), runhistory.PlannerNoteData{Note: name}, nil))
		}
		if err := store.AppendEvents(context.Background(), "agent", "run", events...); err != nil {
			t.Fatal(err)
		}
	}
	found := load(t, store, "agent", "run")
	expectEqual(t, "notes", notesOf(found.Events), []string{"b1", "a1", "c3", "c3", "b4", "a5"})
	latest, _ := runhistory.NewReader(found).Latest(runhistory.EventPlannerNote)
	expectEqual(t, "latest", notesOf([]runhistory.Event{latest}), []string{"a5"})
}

func TestOlderFormsOfDataAreStored(t *testing.T) {
	store := openStore(t)
	var none *runhistory.ThinkingData
	for data, isGood := range map[any]bool{&runhistory.ThinkingData{Redacted: []byte("raw")}: true, none: false, nil: false} {
		err := store.AppendEvents(context.Background(), "agent", "typed", runhistory.Event{Type: runhistory.EventThinking, Data: data})
		if isGood != (err == nil) || err != nil && err.Error() != "memory: thinking data is nil" {
			t.Errorf("%v: %v", data, err)
		}
	}
	call := map[string]any{"tool_call_id": "t1", "tool_name": "x", "payload": map[string]any{"q": json.Number("1e400")}}
	thinking := map[string]any{"redacted": []byte("raw")}
	err := store.AppendEvents(context.Background(), "agent", "run",
		runhistory.Event{Type: runhistory.EventToolCall, Data: call}, runhistory.Event{Type: runhistory.EventThinking, Data: thinking})
	if err != nil {
		t.Fatal(err)
	}
	events := load(t, store, "agent", "run").Events
	foundCall, err := runhistory.DecodeToolCallData(events[0])
	expectEqual(t, "error", err, nil)
	input, err := foundCall.Input()
	expectEqual(t, "error", err, nil)
	expectEqual(t, "input", input, any(map[string]any{"q": json.Number("1e400")}))
	for _, event := range []runhistory.Event{events[1], load(t, store, "agent", "typed").Events[0]} {
		found, err := runhistory.DecodeThinkingData(event)
		expectEqual(t, "error", err, nil)
		expectEqual(t, "redacted", string(found.Redacted), "raw")
	}
}

func TestABadEventKeepsItsBatchOut(t *testing.T) {
	store := openStore(t)
	for want, bad := range map[string]runhistory.Event{
		`memory: planner_note missing "note"`: {Type: runhistory.EventPlannerNote, Data: map[string]any{}},
		"rawjson: trailing data":              runhistory.NewEvent(time.Time{}, runhistory.ToolCallData{PayloadJSON: []byte("{} {}")}, nil),
	} {
		err := store.AppendEvents(context.Background(), "agent", "run", note("good"), bad)
		var refused *runhistory.Error
		if !errors.As(err, &refused) || refused.Message != want || len(refused.Issues) != 1 {
			t.Fatal(err)
		}
		expectEqual(t, "field", refused.Issues[0].Field[:len("events[1].data")], "events[1].data")
	}
	expectEqual(t, "events", len(load(t, store, "agent", "run").Events), 0)
}

func TestARepeatedAppendStoresNothing(t *testing.T) {
	store, ctx := openStore(t), context.Background()
	for range 3 {
		if err := store.AppendEventsOnce(ctx, "attempt-1", "agent", "run", note("a"), note("b")); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.AppendEventsOnce(ctx, "attempt-2", "agent", "run", note("c")); err != nil {
		t.Fatal(err)
	}
	if err := store.AppendEventsOnce(ctx, "", "agent", "run", note("d")); err == nil {
		t.Error("an empty append id was taken")
	}
	expectEqual(t, "notes", notesOf(load(t, store, "agent", "run").Events), []string{"a", "b", "c"})
}

func TestLoadSinceReturnsWhatIsNew(t *testing.T) {
	store, ctx := openStore(t), context.Background()
	if err := store.AppendEvents(ctx, "agent", "run", note("old")); err != nil {
		t.Fatal(err)
	}
	first := load(t, store, "agent", "run")
	expectEqual(t, "segments", first.Meta["segments"], 1)
	early := runhistory.NewEvent(time.Unix(0, 0), runhistory.PlannerNoteData{Note: "new, but early"}, nil)
	if err := store.AppendEvents(ctx, "agent", "run", early); err != nil {
		t.Fatal(err)
	}
	since, err := store.LoadSince(ctx, "agent", "run", first.Meta["cursor"].(string))
	expectEqual(t, "error", err, nil)
	expectEqual(t, "notes", notesOf(since.Events), []string{"new, but early"})
	again, err := store.LoadSince(ctx, "agent", "run", since.Meta["cursor"].(string))
	expectEqual(t, "error", err, nil)
	expectEqual(t, "events", len(again.Events), 0)
	_, err = store.LoadSince(ctx, "agent", "another", first.Meta["cursor"].(string))
	var refused *runhistory.Error
	if !errors.As(err, &refused) || refused.Code != "CURSOR_INVALID" {
		t.Error(err)
	}
}
