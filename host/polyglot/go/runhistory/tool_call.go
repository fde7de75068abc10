package runhistory

import (
	"bytes"
	"errors"
)

// ToolIdent is the name of a tool.
type ToolIdent string

// ToolCallData is a tool call that an agent has scheduled.
type ToolCallData struct {
	ToolCallID string
	// ParentToolCallID is the call that this one belongs to.
	ParentToolCallID string
	ToolName         ToolIdent
	// PayloadJSON is the tool's input.
	PayloadJSON RawJSON
	// Queue is where the call was scheduled.
	Queue string
	// ExpectedChildrenTotal is how many calls are expected below this one.
	ExpectedChildrenTotal int
}

func (ToolCallData) EventType() EventType { return EventToolCall }

func (d ToolCallData) ToMap() map[string]any {
	data := map[string]any{"tool_call_id": d.ToolCallID, "tool_name": string(d.ToolName)}
	setUnlessZero(data, "parent_tool_call_id", d.ParentToolCallID)
	setUnlessZero(data, "payload", string(d.PayloadJSON))
	setUnlessZero(data, "queue", d.Queue)
	setUnlessZero(data, "expected_children_total", d.ExpectedChildrenTotal)
	return data
}

func (d *ToolCallData) FromMap(data any) error {
	return fromMap(d, data, func(f *payloadFields) ToolCallData {
		return ToolCallData{
			ToolCallID:            f.requiredText("tool_call_id"),
			ToolName:              ToolIdent(f.requiredText("tool_name")),
			ParentToolCallID:      f.text("parent_tool_call_id"),
			PayloadJSON:           f.jsonText("payload"),
			Queue:                 f.text("queue"),
			ExpectedChildrenTotal: f.int("expected_children_total"),
		}
	})
}

func DecodeToolCallData(event Event) (ToolCallData, error) { return decode[ToolCallData](event) }

// Input returns the value of PayloadJSON, with json.Number for numbers, and nil if there is none.
func (d ToolCallData) Input() (any, error) {
	if len(bytes.TrimSpace(d.PayloadJSON)) == 0 {
		return nil, nil
	}
	var input any
	err := decodeJSON(d.PayloadJSON, &input)
	var known *Error
	if err != nil && !errors.As(err, &known) {
		err = invalidJSON()
	}
	if err != nil {
		return nil, err
	}
	return input, nil
}

func setUnlessZero[T comparable](data map[string]any, key string, value T) {
	var zero T
	if value != zero {
		data[key] = value
	}
}
