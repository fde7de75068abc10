package runhistory_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	. "memcell-host/runhistory"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

func pointer[T any](value T) *T { return &value }

// decodeAny decodes an event as its type has it.
func decodeAny(event Event) (any, error) {
	switch event.Type {
	case EventUserMessage:
		return DecodeUserMessageData(event)
	case EventAssistantMessage:
		return DecodeAssistantMessageData(event)
	case EventToolCall:
		return DecodeToolCallData(event)
	case EventToolResult:
		return DecodeToolResultData(event)
	case EventPlannerNote:
		return DecodePlannerNoteData(event)
	case EventOpaque:
		return DecodeOpaqueData(event)
	case EventSnapshot:
		return DecodeSnapshotData(event)
	default:
		return DecodeThinkingData(event)
	}
}

var samples = []EventData{
	UserMessageData{},
	UserMessageData{"Hello", map[string]any{"a": []any{"b", nil, true}}},
	AssistantMessageData{"", "text"},
	ToolCallData{ToolCallID: "t1", ToolName: "svc.tool", PayloadJSON: RawJSON(`{"q":1}`)},
	ToolCallData{"t1", "t0", "svc.tool", RawJSON(" {}\n"), "queue", 3},
	ToolResultData{
		ToolCallID: "t1", ToolName: "svc.tool", ResultJSON: RawJSON(`{"ok":true}`),
		Bounds:   &Bounds{1, pointer(5), true, pointer("next-page"), "Ask for less"},
		Duration: 2 * time.Second, ErrorMessage: "boom",
	},
	ToolResultData{
		ToolCallID: "t1", ToolName: "svc.tool", ServerData: RawJSON("null"), Preview: "p", Bounds: &Bounds{}, Duration: -1 << 63,
		Telemetry: &ToolTelemetry{1 << 62, 2, "m", map[string]any{"n": json.Number("1e400")}},
		RetryHint: &RetryHintData{
			"missing_fields", "svc.tool", true, []string{"q"}, map[string]any{"q": json.Number("9007199254740993")},
			map[string]any{}, "Which?", "Say q",
		},
	},
	PlannerNoteData{},
	PlannerNoteData{"note"},
	ThinkingData{},
	ThinkingData{"text", "sig", []byte("opaque"), 3, true},
	OpaqueData{"chess", RawJSON(` {"move" : "e4"}`)},
	SnapshotData{"", RawJSON("null")},
}

func TestPayloadsComeBackFromTheirMaps(t *testing.T) {
	for _, data := range samples {
		event := NewEvent(time.Time{}, data, nil)
		if found, err := decodeAny(event); err != nil || !reflect.DeepEqual(found, data) {
			t.Errorf("%#v, %v", found, err)
		}
		// The same after encoding/json, with and without exact numbers.
		text, _ := json.Marshal(event)
		for _, isExact := range []bool{true, false} {
			var stored Event
			decoder := json.NewDecoder(strings.NewReader(string(text)))
			if isExact {
				decoder.UseNumber()
			} else if contains(string(text), "e400") {
				continue // encoding/json refuses it as a float64
			}
			if err := decoder.Decode(&stored); err != nil {
				t.Fatal(err)
			}
			if found, err := decodeAny(stored); err != nil || !reflect.DeepEqual(found, data) {
				t.Errorf("%s: %#v, %v", text, found, err)
			}
		}
	}
}

func TestMapsHaveGoaAIsKeys(t *testing.T) {
	for at, want := range []string{
		`{}`,
		`{"message":"Hello","structured":{"a":["b",null,true]}}`,
		`{"structured":"text"}`,
		`{"payload":"{\"q\":1}","tool_call_id":"t1","tool_name":"svc.tool"}`,
		`{"expected_children_total":3,"parent_tool_call_id":"t0","payload":" {}\n","queue":"queue","tool_call_id":"t1","tool_name":"svc.tool"}`,
		`{"bounds":{"Returned":1,"Total":5,"Truncated":true,"NextCursor":"next-page","RefinementHint":"Ask for less"},` +
			`"duration":2000000000,"error_message":"boom","result_json":"{\"ok\":true}","tool_call_id":"t1","tool_name":"svc.tool"}`,
		`{"bounds":{"Returned":0,"Total":null,"Truncated":false,"NextCursor":null,"RefinementHint":""},` +
			`"duration":-9223372036854775808,"preview":"p","retry_hint":{"Reason":"missing_fields","Tool":"svc.tool","RestrictToTool":true,` +
			`"MissingFields":["q"],"ExampleInput":{"q":9007199254740993},"PriorInput":{},"ClarifyingQuestion":"Which?","Message":"Say q"},` +
			`"server_data":"null","telemetry":{"DurationMs":4611686018427387904,"TokensUsed":2,"Model":"m","Extra":{"n":1e400}},` +
			`"tool_call_id":"t1","tool_name":"svc.tool"}`,
		`{"note":""}`,
		`{"note":"note"}`,
		`{"content_index":0,"final":false}`,
		`{"content_index":3,"final":true,"redacted":"b3BhcXVl","signature":"sig","text":"text"}`,
		`{"format":"chess","json":" {\"move\" : \"e4\"}"}`,
		`{"format":"","json":"null"}`,
	} {
		if found, err := json.Marshal(samples[at].ToMap()); err != nil || string(found) != want {
			t.Errorf("%s, %v", found, err)
		}
	}
}

type fields = map[string]any

// withIDs adds the fields that a tool call and a tool result must have.
func withIDs(more fields) fields {
	data := fields{"tool_call_id": "", "tool_name": ""}
	for key, value := range more {
		data[key] = value
	}
	return data
}

func TestDecodersTakeOlderForms(t *testing.T) {
	for _, each := range []struct {
		of   EventType
		data any
		want any
	}{
		{EventToolCall, withIDs(nil), ToolCallData{}},
		{EventToolCall, withIDs(fields{"payload": fields{"q": 1}}), ToolCallData{PayloadJSON: RawJSON(`{"q":1}`)}},
		{EventToolCall, withIDs(fields{"payload": fields{"q": json.Number("1e400")}}), ToolCallData{PayloadJSON: RawJSON(`{"q":1e400}`)}},
		{EventToolCall, withIDs(fields{"payload": RawJSON(" [1]")}), ToolCallData{PayloadJSON: RawJSON(" [1]")}},
		{EventToolCall, withIDs(fields{"payload": json.RawMessage("null")}), ToolCallData{}},
		{EventToolCall, withIDs(fields{"payload": "", "queue": nil, "expected_children_total": nil}), ToolCallData{}},
		{EventToolCall, withIDs(fields{"expected_children_total": 2.9}), ToolCallData{ExpectedChildrenTotal: 2}},
		{EventToolCall, withIDs(fields{"expected_children_total": int8(-2)}), ToolCallData{ExpectedChildrenTotal: -2}},
		{EventToolCall, withIDs(fields{"expected_children_total": json.Number("-2.9e0")}), ToolCallData{ExpectedChildrenTotal: -2}},
		{EventToolCall, withIDs(fields{"tool_name": ToolIdent("t"), "other": 1}), ToolCallData{ToolName: "t"}},
		{EventToolResult, withIDs(fields{"duration": 2e9}), ToolResultData{Duration: 2 * time.Second}},
		{EventToolResult, withIDs(fields{"duration": json.Number("9007199254740993")}), ToolResultData{Duration: 9007199254740993}},
		{EventToolResult, withIDs(fields{"bounds": Bounds{Returned: 1}}), ToolResultData{Bounds: &Bounds{Returned: 1}}},
		{EventToolResult, withIDs(fields{"bounds": (*Bounds)(nil), "retry_hint": nil}), ToolResultData{}},
		{EventThinking, fields{"redacted": []byte("raw")}, ThinkingData{Redacted: []byte("raw")}},
		{EventThinking, fields{"redacted": ""}, ThinkingData{}},
		{EventOpaque, fields{"format": "f", "json": fields{"q": 1}}, OpaqueData{"f", RawJSON(`{"q":1}`)}},
		{EventSnapshot, fields{"format": "f", "json": RawJSON("[1]")}, SnapshotData{"f", RawJSON("[1]")}},
		{EventPlannerNote, PlannerNoteData{"n"}, PlannerNoteData{"n"}},
		{EventPlannerNote, &PlannerNoteData{"n"}, PlannerNoteData{"n"}},
	} {
		if found, err := decodeAny(Event{Type: each.of, Data: each.data}); err != nil || !reflect.DeepEqual(found, each.want) {
			t.Errorf("%v: %#v, %v", each.data, found, err)
		}
	}
}

func TestDecodersSayWhatIsWrong(t *testing.T) {
	for _, each := range []struct {
		of   EventType
		data any
		code string
		want string
	}{
		{EventPlannerNote, nil, "EVENT_DATA_NIL", "memory: planner_note data is nil"},
		{EventThinking, (*ThinkingData)(nil), "EVENT_DATA_NIL", "memory: thinking data is nil"},
		{EventUserMessage, []any{}, "EVENT_DATA_NOT_MAP", "memory: user_message data must be map[string]any, got []interface {}"},
		{EventUserMessage, "x", "EVENT_DATA_NOT_MAP", "memory: user_message data must be map[string]any, got string"},
		{EventUserMessage, json.Number("1"), "EVENT_DATA_NOT_MAP", "memory: user_message data must be map[string]any, got float64"},
		{EventPlannerNote, fields{}, "EVENT_FIELD_MISSING", `memory: planner_note missing "note"`},
		{EventToolCall, fields{"tool_name": 1}, "EVENT_FIELD_MISSING", `memory: tool_call missing "tool_call_id"`},
		{EventToolCall, fields{"tool_call_id": ""}, "EVENT_FIELD_MISSING", `memory: tool_call missing "tool_name"`},
		{EventToolResult, fields{"tool_call_id": 1, "tool_name": nil}, "EVENT_FIELD_INVALID", `memory: tool_result field "tool_call_id" must be string, got int`},
		{EventToolResult, fields{"tool_call_id": nil}, "EVENT_FIELD_INVALID", `memory: tool_result field "tool_call_id" must be string, got <nil>`},
		{EventToolResult, withIDs(fields{"preview": json.Number("1")}), "EVENT_FIELD_INVALID", `memory: tool_result field "preview" must be string, got float64`},
		{EventToolResult, withIDs(fields{"duration": "2s"}), "EVENT_FIELD_INVALID", `memory: tool_result field "duration" must be duration-compatible, got string`},
		{EventToolResult, withIDs(fields{"duration": json.Number("9223372036854775808")}), "EVENT_FIELD_INVALID", `memory: tool_result field "duration" must be duration-compatible, got float64`},
		{EventToolResult, withIDs(fields{"bounds": "x"}), "EVENT_FIELD_INVALID", `memory: decode tool_result field "bounds": json: cannot unmarshal string into Go value of type runhistory.Bounds`},
		{EventToolResult, withIDs(fields{"result_json": make(chan int)}), "EVENT_FIELD_INVALID", `memory: encode tool_result field "result_json": json: unsupported type: chan int`},
		{EventToolCall, withIDs(fields{"expected_children_total": "1"}), "EVENT_FIELD_INVALID", `memory: tool_call field "expected_children_total" must be int-compatible, got string`},
		{EventToolCall, withIDs(fields{"expected_children_total": json.Number("1e400")}), "EVENT_FIELD_INVALID", `memory: tool_call field "expected_children_total" must be int-compatible, got float64`},
		{EventToolCall, withIDs(fields{"expected_children_total": -1e19}), "EVENT_FIELD_INVALID", `memory: tool_call field "expected_children_total" must be int-compatible, got float64`},
		{EventOpaque, fields{"json": "1"}, "EVENT_FIELD_MISSING", `memory: opaque missing "format"`},
		{EventOpaque, fields{"format": "f", "json": " "}, "EVENT_FIELD_MISSING", `memory: opaque missing "json"`},
		{EventSnapshot, fields{"format": "f"}, "EVENT_FIELD_MISSING", `memory: snapshot missing "json"`},
		{EventThinking, fields{"final": 1, "text": 1}, "EVENT_FIELD_INVALID", `memory: thinking field "text" must be string, got int`},
		{EventThinking, fields{"final": 1}, "EVENT_FIELD_INVALID", `memory: thinking field "final" must be bool, got int`},
		{EventThinking, fields{"final": "true"}, "EVENT_FIELD_INVALID", `memory: thinking field "final" must be bool, got string`},
		{EventThinking, fields{"redacted": "!"}, "EVENT_FIELD_INVALID", `memory: thinking field "redacted" must be base64, got invalid string`},
	} {
		found, err := decodeAny(Event{Type: each.of, Data: each.data})
		refused, isError := err.(*Error)
		if !isError || refused.Error() != each.want || refused.Code != each.code || !reflect.ValueOf(found).IsZero() {
			t.Errorf("%v: %v, %v", each.data, found, err)
		}
	}
}

func TestDecodersRefuseAnotherType(t *testing.T) {
	_, err := DecodeToolCallData(Event{Type: EventToolResult})
	if refused, isError := err.(*Error); !isError || refused.Message != "memory: decode tool_result as tool_call" || refused.Code != "EVENT_TYPE_MISMATCH" {
		t.Error(err)
	}
}

func TestAFaultLeavesThePayloadAsItWas(t *testing.T) {
	note := PlannerNoteData{"as it was"}
	if err := note.FromMap(fields{"note": 1}); err == nil || note.Note != "as it was" {
		t.Error(note, err)
	}
}

func TestInputKeepsNumbers(t *testing.T) {
	for payload, want := range map[string]any{
		"":                      nil,
		" \n":                   nil,
		"null":                  nil,
		`{"q":1}`:               fields{"q": json.Number("1")},
		"[1e400,-0]":            []any{json.Number("1e400"), json.Number("-0")},
		" 9007199254740993 \n ": json.Number("9007199254740993"),
	} {
		if found, err := (ToolCallData{PayloadJSON: RawJSON(payload)}).Input(); err != nil || !reflect.DeepEqual(found, want) {
			t.Errorf("%q: %v, %v", payload, found, err)
		}
	}
	for payload, want := range map[string]string{
		"{} {}": "rawjson: trailing data",
		"{}x":   "rawjson: trailing data",
		"1]":    "rawjson: trailing data",
		"{":     "rawjson: invalid JSON",
	} {
		if found, err := (ToolCallData{PayloadJSON: RawJSON(payload)}).Input(); found != nil || err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v", payload, found, err)
		}
	}
}

func TestRawJSON(t *testing.T) {
	for text, want := range map[string]string{`{ "a" : 1e400 }`: `{"a":1e400}`, "null": "null"} {
		if found, err := json.Marshal(RawJSON(text)); err != nil || string(found) != want {
			t.Errorf("%s, %v", found, err)
		}
	}
	if found, err := RawJSON(nil).MarshalJSON(); err != nil || string(found) != "null" {
		t.Errorf("%s, %v", found, err)
	}
	for text, want := range map[string]string{
		"": "rawjson: non-nil message is empty", " ": "rawjson: non-nil message is empty", "{": "rawjson: invalid JSON",
	} {
		if _, err := RawJSON(text).MarshalJSON(); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	var read struct{ A, B RawJSON }
	if err := json.Unmarshal([]byte(`{"A":{ "a": 1e400 },"B":null}`), &read); err != nil || string(read.A) != `{ "a": 1e400 }` || read.B != nil {
		t.Errorf("%s %s %v", read.A, read.B, err)
	}
}
