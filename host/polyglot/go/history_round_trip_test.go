package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"memcell-host/runhistory"
)

// Random events of all types go through the plugin, and are compared with what encoding/json makes of the same values.
func TestEventsComeBackAsEncodingJSONHasThem(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if given, err := strconv.ParseUint(os.Getenv("MEMCELL_SEED"), 10, 64); err == nil {
		seed = given
	}
	t.Logf("MEMCELL_SEED=%d repeats this run", seed)
	random := randomEvents{rand.New(rand.NewPCG(seed, 0))}
	store := openStore(t)
	var stored []runhistory.Event
	for batch := range 30 {
		events := random.batch(batch)
		if err := store.AppendEvents(context.Background(), "agent", "run", events...); err != nil {
			t.Fatalf("batch %d: %v", batch, err)
		}
		stored = append(stored, events...)
	}
	slices.SortStableFunc(stored, func(a, b runhistory.Event) int { return a.Timestamp.Compare(b.Timestamp) })
	found := load(t, store, "agent", "run").Events
	expectEqual(t, "number of events", len(found), len(stored))
	for at, want := range stored {
		compareEvents(t, found[at], want)
	}
}

func compareEvents(t *testing.T, found, want runhistory.Event) {
	t.Helper()
	expectEqual(t, "type", found.Type, want.Type)
	expectEqual(t, "timestamp", found.Timestamp, want.Timestamp.UTC())
	expectEqual(t, "labels", found.Labels, want.Labels)
	expectEqual(t, string(want.Type)+" data", jsonValue(t, found.Data), jsonValue(t, want.Data))
	expectEqual(t, string(want.Type)+" payload", withoutTypes(t, payloadOf(t, found)), withoutTypes(t, payloadOf(t, want)))
}

// withoutTypes replaces any values of a payload by what encoding/json makes of them: a number there can have any of Go's types.
func withoutTypes(t *testing.T, payload any) any {
	t.Helper()
	switch typed := payload.(type) {
	case runhistory.UserMessageData:
		typed.Structured = jsonValue(t, typed.Structured)
		return typed
	case runhistory.AssistantMessageData:
		typed.Structured = jsonValue(t, typed.Structured)
		return typed
	}
	return payload
}

func payloadOf(t *testing.T, event runhistory.Event) (payload any) {
	t.Helper()
	var err error
	switch event.Type {
	case runhistory.EventUserMessage:
		payload, err = runhistory.DecodeUserMessageData(event)
	case runhistory.EventAssistantMessage:
		payload, err = runhistory.DecodeAssistantMessageData(event)
	case runhistory.EventToolCall:
		payload, err = runhistory.DecodeToolCallData(event)
	case runhistory.EventToolResult:
		payload, err = runhistory.DecodeToolResultData(event)
	case runhistory.EventPlannerNote:
		payload, err = runhistory.DecodePlannerNoteData(event)
	case runhistory.EventThinking:
		payload, err = runhistory.DecodeThinkingData(event)
	}
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// goa-ai's decoders know Go's own numbers, and no json.Number.
func TestKnownNumbersHaveTheTypesOfToMap(t *testing.T) {
	store := openStore(t)
	payloads := []runhistory.EventData{
		runhistory.ToolCallData{ExpectedChildrenTotal: 3},
		runhistory.ToolResultData{Duration: 104 * 24 * time.Hour},
		runhistory.ToolResultData{Duration: 1<<63 - 1},
		runhistory.ToolResultData{Duration: -1 << 63},
		runhistory.ThinkingData{ContentIndex: 1<<53 - 1},
	}
	var events []runhistory.Event
	for at, payload := range payloads {
		events = append(events, runhistory.NewEvent(time.Unix(int64(at), 0), payload, nil))
	}
	if err := store.AppendEvents(context.Background(), "agent", "run", events...); err != nil {
		t.Fatal(err)
	}
	for at, event := range load(t, store, "agent", "run").Events {
		expectEqual(t, "data", event.Data, any(payloads[at].ToMap()))
	}
}

func TestADurationOfMoreThan64BitsIsRefused(t *testing.T) {
	store := openStore(t)
	data := map[string]any{"tool_call_id": "", "tool_name": "", "duration": json.Number("9223372036854775808")}
	err := store.AppendEvents(context.Background(), "agent", "run", runhistory.Event{Type: runhistory.EventToolResult, Data: data})
	if err == nil || err.Error() != `memory: tool_result field "duration" must be duration-compatible, got float64` {
		t.Error(err)
	}
}

type randomEvents struct{ *rand.Rand }

func pick[T any](r randomEvents, from ...T) T { return from[r.IntN(len(from))] }

func (r randomEvents) batch(number int) (events []runhistory.Event) {
	for range 1 + r.IntN(6) {
		// Few times, so that many are equal.
		at := time.Unix(int64(r.IntN(3)), int64(r.IntN(3))).In(pick(r, time.UTC, time.FixedZone("", 5*3600+1800)))
		events = append(events, runhistory.NewEvent(at, r.payload(), pick(r, nil, map[string]string{r.text(): r.text()})))
	}
	if number%10 == 0 {
		large := runhistory.ToolResultData{ToolCallID: "large", ResultJSON: r.largeJSON()}
		events = append(events, runhistory.NewEvent(time.Unix(1, 0), large, nil))
	}
	if number == 0 { // all types at least once
		for _, payload := range r.payloads() {
			events = append(events, runhistory.NewEvent(time.Unix(1, 0), payload, nil))
		}
	}
	return events
}

func (r randomEvents) payload() runhistory.EventData { return pick(r, r.payloads()...) }

func (r randomEvents) payloads() []runhistory.EventData {
	total, cursor := int(r.int64()>>11), r.text()
	return []runhistory.EventData{
		runhistory.UserMessageData{Message: r.text(), Structured: r.value(3)},
		runhistory.AssistantMessageData{Message: r.text(), Structured: r.value(3)},
		runhistory.PlannerNoteData{Note: r.text()},
		runhistory.ThinkingData{
			Text: r.text(), Signature: r.text(), Redacted: r.bytes(), ContentIndex: int(r.int64() >> 11), Final: r.IntN(2) == 0,
		},
		runhistory.ToolCallData{
			ToolCallID: r.text(), ParentToolCallID: r.text(), ToolName: runhistory.ToolIdent(r.text()), PayloadJSON: r.json(),
			Queue: r.text(), ExpectedChildrenTotal: int(r.int64() >> 11),
		},
		runhistory.ToolResultData{
			ToolCallID: r.text(), ParentToolCallID: r.text(), ToolName: runhistory.ToolIdent(r.text()), ResultJSON: r.json(),
			ServerData: r.json(), Preview: r.text(), Duration: time.Duration(r.int64()), ErrorMessage: r.text(),
			Bounds: pick(r, nil, &runhistory.Bounds{}, &runhistory.Bounds{
				Returned: int(r.int64() >> 11), Total: &total, Truncated: true, NextCursor: &cursor, RefinementHint: r.text(),
			}),
			Telemetry: pick(r, nil, &runhistory.ToolTelemetry{
				DurationMs: r.int64(), TokensUsed: int(r.int64()), Model: r.text(), Extra: r.exactMap(),
			}),
			RetryHint: pick(r, nil, &runhistory.RetryHintData{
				Reason: r.text(), Tool: "t", RestrictToTool: true, MissingFields: []string{r.text()}, ExampleInput: r.exactMap(),
				PriorInput: map[string]any{}, ClarifyingQuestion: r.text(), Message: r.text(),
			}),
		},
	}
}

var hardNumbers = []json.Number{
	"1000000000000000000000000000000", "9007199254740993", "1e400", "-0", "-0.0", "1E+2", "0.10", "-1e-400",
	"123456789012345678901234567890.1234567890123456789", "18446744073709551616",
}

var hardTexts = []string{
	"", " ", "\u2028\u2029", `\ud800`, `\`, `"`, `\\"\/`, `\u0000`, "\x00\x1f\x7f", "\ufeff\ufffd", "</script>&amp;", "🎌日本語", "\r\n\t",
	`{"type":"thinking"}`, `","labels":{`, "__proto__", "constructor", "NaN", "1e400",
}

func (r randomEvents) text() string {
	text := ""
	for range r.IntN(4) {
		text += pick(r, hardTexts...)
	}
	return text
}

func (r randomEvents) int64() int64 {
	return pick(r, 0, -1, 1<<53+1, 104*24*int64(time.Hour), 1<<63-1, -1<<63, int64(r.Uint64()))
}

// bytes returns nil for none, as a decoder does.
func (r randomEvents) bytes() (bytes []byte) {
	for range r.IntN(5) {
		bytes = append(bytes, byte(r.Uint32()))
	}
	return bytes
}

func (r randomEvents) value(depth int) any {
	if depth == 0 || r.IntN(2) == 0 {
		return pick[any](r, nil, true, false, r.text(), pick(r, hardNumbers...), r.int64(), r.NormFloat64(), r.Uint64())
	}
	if r.IntN(2) == 0 {
		return r.values(depth)
	}
	object := map[string]any{}
	for _, value := range r.values(depth) {
		object[r.text()] = value
	}
	return object
}

func (r randomEvents) values(depth int) []any {
	values := []any{}
	for range r.IntN(4) {
		values = append(values, r.value(depth-1))
	}
	return values
}

// exactMap has the types that a decoder returns.
func (r randomEvents) exactMap() map[string]any {
	return map[string]any{r.text(): pick[any](r, nil, true, r.text(), pick(r, hardNumbers...))}
}

// json returns JSON text in any form that a program can write: other spaces, other escapes, other orders of keys.
func (r randomEvents) json() runhistory.RawJSON {
	text, err := json.Marshal(r.value(3))
	if err != nil {
		panic(err)
	}
	return pick(r, nil, runhistory.RawJSON(text), append(append([]byte(" \r\n"), text...), '\t'),
		runhistory.RawJSON(`{"b":"\ud800\u2028\/","a":[1e400,-0,1E+2],"a":"\ud83c\udf8c"}`), runhistory.RawJSON("\"\u2028\x7f\""))
}

// largeJSON returns 200 KiB.
func (r randomEvents) largeJSON() runhistory.RawJSON {
	text := []byte{'['}
	for len(text) < 200<<10 {
		text = append(append(text, pick(r, hardNumbers...)...), ',')
	}
	return append(text, "0]"...)
}
