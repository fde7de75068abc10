// Package runhistory keeps the events of agents' runs with memcell's plugin run-history.
//
// It restates the contract of goa-ai's package memory: the same events, payloads, decoders and error texts. Store has the methods
// of its interface Store.
package runhistory

import (
	"maps"
	"time"
)

// EventType is the kind of an event.
type EventType string

const (
	EventUserMessage      EventType = "user_message"
	EventAssistantMessage EventType = "assistant_message"
	EventToolCall         EventType = "tool_call"
	EventToolResult       EventType = "tool_result"
	EventPlannerNote      EventType = "planner_note"
	EventThinking         EventType = "thinking"
	// EventOpaque and EventSnapshot are not goa-ai's.
	EventOpaque   EventType = "opaque"
	EventSnapshot EventType = "snapshot"
)

// An Event is one entry of a run's history.
type Event struct {
	Type EventType
	// Timestamp is when it happened. The zero time stands for the time of the append.
	Timestamp time.Time
	// Data is what ToMap of the event's payload returns. A Store also takes the payload itself, and any value that encoding/json
	// writes as an object. What a Store returns is a map[string]any; its numbers are json.Number, except that duration is a
	// time.Duration, and content_index and expected_children_total are int.
	Data any
	// Labels are texts to find and filter the event by.
	Labels map[string]string
}

// EventData is the payload of an event.
type EventData interface {
	EventType() EventType
	ToMap() map[string]any
}

// NewEvent returns an event that shares nothing with the data and the labels. Its labels are nil if there are none.
func NewEvent(timestamp time.Time, data EventData, labels map[string]string) Event {
	event := Event{Type: data.EventType(), Timestamp: timestamp, Data: data.ToMap()}
	if len(labels) > 0 {
		event.Labels = maps.Clone(labels)
	}
	return event
}

// An Annotation is what a planner or a policy remarks on a run.
type Annotation struct {
	Message string
	Labels  map[string]string
}
