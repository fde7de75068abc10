package runhistory

import "time"

// ToolResultData is the end of a tool call.
type ToolResultData struct {
	ToolCallID string
	// ParentToolCallID is the call that this one belongs to.
	ParentToolCallID string
	ToolName         ToolIdent
	ResultJSON       RawJSON
	// ServerData is only for servers. ReadRunHistory, the plugin's tool for models, never returns it.
	ServerData RawJSON
	// Preview is a summary for people.
	Preview   string
	Bounds    *Bounds
	Duration  time.Duration
	Telemetry *ToolTelemetry
	RetryHint *RetryHintData
	// ErrorMessage is why the call failed.
	ErrorMessage string
}

// Bounds is what a bounded result says of itself.
type Bounds struct {
	// Returned is how many items the result has, and Total how many there are, if that is known.
	Returned  int
	Total     *int
	Truncated bool
	// NextCursor is where the next page begins.
	NextCursor *string
	// RefinementHint says how to ask for less.
	RefinementHint string
}

// ToolTelemetry has measurements of a call.
type ToolTelemetry struct {
	DurationMs int64
	TokensUsed int
	Model      string
	Extra      map[string]any
}

// RetryHintData says how a planner can repair a failed call.
type RetryHintData struct {
	Reason             string
	Tool               ToolIdent
	RestrictToTool     bool
	MissingFields      []string
	ExampleInput       map[string]any
	PriorInput         map[string]any
	ClarifyingQuestion string
	Message            string
}

func (ToolResultData) EventType() EventType { return EventToolResult }

func (d ToolResultData) ToMap() map[string]any {
	data := map[string]any{"tool_call_id": d.ToolCallID, "tool_name": string(d.ToolName)}
	setUnlessZero(data, "parent_tool_call_id", d.ParentToolCallID)
	setUnlessZero(data, "result_json", string(d.ResultJSON))
	setUnlessZero(data, "server_data", string(d.ServerData))
	setUnlessZero(data, "preview", d.Preview)
	setUnlessZero(data, "bounds", deepCopy(d.Bounds))
	setUnlessZero(data, "duration", d.Duration)
	setUnlessZero(data, "telemetry", deepCopy(d.Telemetry))
	setUnlessZero(data, "retry_hint", deepCopy(d.RetryHint))
	setUnlessZero(data, "error_message", d.ErrorMessage)
	return data
}

func (d *ToolResultData) FromMap(data any) error {
	return fromMap(d, data, func(f *payloadFields) ToolResultData {
		return ToolResultData{
			ToolCallID:       f.requiredText("tool_call_id"),
			ToolName:         ToolIdent(f.requiredText("tool_name")),
			ParentToolCallID: f.text("parent_tool_call_id"),
			ResultJSON:       f.jsonText("result_json"),
			ServerData:       f.jsonText("server_data"),
			Preview:          f.text("preview"),
			Bounds:           structOf[Bounds](f, "bounds"),
			Duration:         f.duration("duration"),
			Telemetry:        structOf[ToolTelemetry](f, "telemetry"),
			RetryHint:        structOf[RetryHintData](f, "retry_hint"),
			ErrorMessage:     f.text("error_message"),
		}
	})
}

func DecodeToolResultData(event Event) (ToolResultData, error) { return decode[ToolResultData](event) }
