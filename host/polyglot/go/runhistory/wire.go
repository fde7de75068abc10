package runhistory

import (
	"encoding/json"
	"reflect"
	"time"
)

// wireEvent is an event as the plugin has it. Its data is JSON text, so that numbers keep their digits.
type wireEvent struct {
	Type      EventType         `json:"type"`
	Timestamp string            `json:"timestamp,omitempty"`
	Data      string            `json:"data"`
	Labels    map[string]string `json:"labels,omitempty"`
}

type appendRequest struct {
	AgentID  string      `json:"agentId"`
	RunID    string      `json:"runId"`
	Events   []wireEvent `json:"events"`
	AppendID *string     `json:"appendId,omitempty"`
}

type loadRequest struct {
	AgentID string `json:"agentId"`
	RunID   string `json:"runId"`
	Cursor  string `json:"cursor,omitempty"`
}

type loadAnswer struct {
	Events []wireEvent
	More   bool
	Meta   struct {
		Bytes, Segments, DamagedLines int
		Cursor                        string
	}
}

type envelope struct {
	OK    bool            `json:"ok"`
	Data  json.RawMessage `json:"data"`
	Error *Error          `json:"error"`
}

func toWire(events []Event) ([]wireEvent, error) {
	wired := make([]wireEvent, len(events))
	for at, event := range events {
		data, err := encodeJSON(mapOf(event.Data))
		if err != nil {
			return nil, fault("INPUT_INVALID", "Cannot append events: events[%d].data cannot be written as JSON: %v", at, err)
		}
		wired[at] = wireEvent{Type: event.Type, Data: string(data), Labels: event.Labels}
		if !event.Timestamp.IsZero() {
			wired[at].Timestamp = event.Timestamp.UTC().Format(time.RFC3339Nano)
		}
	}
	return wired, nil
}

// mapOf returns the map of a payload, of this package or goa-ai's, and any other value as it is.
func mapOf(data any) any {
	payload, isPayload := data.(interface{ ToMap() map[string]any })
	if !isPayload {
		return data
	}
	if value := reflect.ValueOf(data); value.Kind() == reflect.Pointer && value.IsNil() {
		return nil
	}
	return payload.ToMap()
}

func (w wireEvent) event() (Event, error) {
	var data map[string]any
	timestamp, err := time.Parse(time.RFC3339Nano, w.Timestamp)
	if err == nil {
		err = decodeJSON([]byte(w.Data), &data)
	}
	if err != nil {
		return Event{}, fault("OUTPUT_INVALID", "Cannot use the answer of LoadRun: an event is not one: %v", err)
	}
	setWholeNumbers(w.Type, data)
	event := Event{Type: w.Type, Timestamp: timestamp, Data: data}
	if len(w.Labels) > 0 {
		event.Labels = w.Labels
	}
	return event, nil
}

// setWholeNumbers gives fields the types that ToMap gives them. goa-ai's decoders refuse a json.Number there.
func setWholeNumbers(of EventType, data map[string]any) {
	set := func(key string, typed func(int64) any) {
		if number, isNumber := data[key].(json.Number); isNumber {
			if whole, isWhole := wholeOf(number); isWhole {
				data[key] = typed(whole)
			}
		}
	}
	asInt := func(whole int64) any { return int(whole) }
	switch of {
	case EventToolCall:
		set("expected_children_total", asInt)
	case EventToolResult:
		set("duration", func(whole int64) any { return time.Duration(whole) })
	case EventThinking:
		set("content_index", asInt)
	}
}
