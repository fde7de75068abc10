// Package memory stands in for goa-ai's package of this name, which the tests cannot download. It has what the converter in
// host/polyglot/go/runhistory/README.md uses, and one payload with goa-ai's rules for numbers.
package memory

import (
	"context"
	"fmt"
	"time"
)

type EventType string

type Event struct {
	Type      EventType
	Timestamp time.Time
	Data      any
	Labels    map[string]string
}

type Snapshot struct {
	AgentID string
	RunID   string
	Events  []Event
	Meta    map[string]any
}

type Store interface {
	LoadRun(ctx context.Context, agentID, runID string) (Snapshot, error)
	AppendEvents(ctx context.Context, agentID, runID string, events ...Event) error
}

type ToolResultData struct{ Duration time.Duration }

func (d ToolResultData) ToMap() map[string]any {
	return map[string]any{"tool_call_id": "t1", "tool_name": "svc.tool", "duration": d.Duration}
}

func DecodeToolResultData(event Event) (found ToolResultData, err error) {
	switch typed := event.Data.(map[string]any)["duration"].(type) {
	case time.Duration:
		found.Duration = typed
	case int64:
		found.Duration = time.Duration(typed)
	case float64:
		found.Duration = time.Duration(typed)
	default:
		err = fmt.Errorf("memory: tool_result field %q must be duration-compatible, got %T", "duration", typed)
	}
	return found, err
}
