package runhistory_test

import (
	"reflect"
	"testing"
	"time"

	. "memcell-host/runhistory"
)

func TestAnEventSharesNothingWithItsPayload(t *testing.T) {
	labels, structured, total := map[string]string{"a": "b"}, map[string]any{"list": []any{"c"}}, 5
	message := NewEvent(time.Time{}, UserMessageData{"m", structured}, labels)
	result := NewEvent(time.Time{}, ToolResultData{Bounds: &Bounds{Total: &total}}, map[string]string{})
	labels["a"], structured["list"].([]any)[0], total = "changed", "changed", 6
	if message.Labels["a"] != "b" || message.Data.(map[string]any)["structured"].(map[string]any)["list"].([]any)[0] != "c" {
		t.Error(message)
	}
	decoded, err := DecodeToolResultData(result)
	if err != nil || *decoded.Bounds.Total != 5 || result.Labels != nil {
		t.Error(decoded, err)
	}
	*decoded.Bounds.Total = 7
	if again, err := DecodeToolResultData(result); err != nil || *again.Bounds.Total != 5 {
		t.Error(again, err)
	}
}

func TestAPayloadDecodedFromAPayloadIsACopy(t *testing.T) {
	given := ThinkingData{Redacted: []byte("opaque")}
	found, err := DecodeThinkingData(Event{Type: EventThinking, Data: &given})
	given.Redacted[0] = 'x'
	if err != nil || string(found.Redacted) != "opaque" {
		t.Error(found, err)
	}
}

func someEvents() []Event {
	return []Event{
		NewEvent(time.Unix(1, 0), PlannerNoteData{"first"}, map[string]string{"n": "1"}),
		NewEvent(time.Unix(2, 0), UserMessageData{"hello", []any{map[string]any{"a": "b"}}}, nil),
		NewEvent(time.Unix(3, 0), PlannerNoteData{"last"}, map[string]string{"n": "2"}),
	}
}

func TestAReaderReturnsDeepCopies(t *testing.T) {
	snapshot := Snapshot{Events: someEvents()}
	reader := NewReader(snapshot)
	spoil := func(event Event) {
		if event.Labels != nil {
			event.Labels["n"] = "spoilt"
		}
		data := event.Data.(map[string]any)
		data["note"] = "spoilt"
		if list, isList := data["structured"].([]any); isList {
			list[0].(map[string]any)["a"] = "spoilt"
		}
	}
	latest, exists := reader.Latest(EventPlannerNote)
	if !exists || latest.Data.(map[string]any)["note"] != "last" {
		t.Error(latest)
	}
	copies := append(append(append(reader.Events(), reader.FilterByType(EventUserMessage)...), latest), snapshot.Events...)
	for _, event := range copies {
		spoil(event)
	}
	reader.Events()[0].Type = EventThinking
	if found := reader.Events(); !reflect.DeepEqual(found, someEvents()) {
		t.Error(found)
	}
	if notes := reader.FilterByType(EventPlannerNote); len(notes) != 2 || notes[0].Labels["n"] != "1" || notes[1].Labels["n"] != "2" {
		t.Error(notes)
	}
}

func TestAReaderWithoutMatches(t *testing.T) {
	empty, full := NewReader(Snapshot{Events: []Event{}}), NewReader(Snapshot{Events: someEvents()})
	if empty.Events() != nil || empty.FilterByType(EventThinking) != nil {
		t.Error("an empty snapshot has events")
	}
	if found := full.FilterByType(EventThinking); found == nil || len(found) != 0 {
		t.Error(found)
	}
	for _, reader := range []Reader{empty, full} {
		if found, exists := reader.Latest(EventThinking); exists || !reflect.DeepEqual(found, Event{}) {
			t.Error(found)
		}
	}
}
