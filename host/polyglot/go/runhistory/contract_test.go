package runhistory_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"memcell-host/runhistory"
)

// contract restates goa-ai's interface memory.Store.
type contract interface {
	LoadRun(ctx context.Context, agentID, runID string) (runhistory.Snapshot, error)
	AppendEvents(ctx context.Context, agentID, runID string, events ...runhistory.Event) error
}

var _ contract = (*runhistory.Store)(nil)

func TestTheStoreHasTheMethodsOfTheContract(t *testing.T) {
	store := reflect.TypeFor[*runhistory.Store]()
	own := []string{"AppendEvents", "AppendEventsOnce", "LoadRun", "LoadSince"}
	for at := range store.NumMethod() {
		if name := store.Method(at).Name; !slices.Contains(own, name) {
			t.Errorf("the store also has %s", name)
		}
	}
	want := reflect.TypeFor[contract]()
	for at := range want.NumMethod() {
		method := want.Method(at)
		found, exists := store.MethodByName(method.Name)
		if !exists {
			t.Fatalf("there is no %s", method.Name)
		}
		if found.Type.NumIn() != method.Type.NumIn()+1 || found.Type.IsVariadic() != method.Type.IsVariadic() {
			t.Errorf("%s is %v, not %v", method.Name, found.Type, method.Type)
		}
	}
}

func TestTheStructsHaveTheFieldsOfTheContract(t *testing.T) {
	fields := map[reflect.Type][]string{
		reflect.TypeFor[runhistory.Event]():                {"Type", "Timestamp", "Data", "Labels"},
		reflect.TypeFor[runhistory.Snapshot]():             {"AgentID", "RunID", "Events", "Meta"},
		reflect.TypeFor[runhistory.Annotation]():           {"Message", "Labels"},
		reflect.TypeFor[runhistory.UserMessageData]():      {"Message", "Structured"},
		reflect.TypeFor[runhistory.AssistantMessageData](): {"Message", "Structured"},
		reflect.TypeFor[runhistory.PlannerNoteData]():      {"Note"},
		reflect.TypeFor[runhistory.OpaqueData]():           {"Format", "JSON"},
		reflect.TypeFor[runhistory.SnapshotData]():         {"Format", "JSON"},
		reflect.TypeFor[runhistory.ThinkingData]():         {"Text", "Signature", "Redacted", "ContentIndex", "Final"},
		reflect.TypeFor[runhistory.ToolCallData](): {
			"ToolCallID", "ParentToolCallID", "ToolName", "PayloadJSON", "Queue", "ExpectedChildrenTotal",
		},
		reflect.TypeFor[runhistory.ToolResultData](): {
			"ToolCallID", "ParentToolCallID", "ToolName", "ResultJSON", "ServerData", "Preview", "Bounds", "Duration", "Telemetry",
			"RetryHint", "ErrorMessage",
		},
		reflect.TypeFor[runhistory.RetryHintData](): {
			"Reason", "Tool", "RestrictToTool", "MissingFields", "ExampleInput", "PriorInput", "ClarifyingQuestion", "Message",
		},
		reflect.TypeFor[runhistory.Bounds](): {"Returned", "Total", "Truncated", "NextCursor", "RefinementHint"},
	}
	for of, want := range fields {
		var found []string
		for _, field := range reflect.VisibleFields(of) {
			found = append(found, field.Name)
		}
		if !reflect.DeepEqual(found, want) {
			t.Errorf("%v has %v", of, found)
		}
	}
}

func TestAStoreNeedsACaller(t *testing.T) {
	store, err := runhistory.NewStore(runhistory.Options{})
	if store != nil || err == nil || err.Error() != "client is required" {
		t.Errorf("got %v, %v", store, err)
	}
}

// refuseCalls fails the test if the store calls a tool.
func refuseCalls(t *testing.T) *runhistory.Store {
	store, err := runhistory.NewStore(runhistory.Options{Call: func(_ context.Context, tool string, _ []byte) ([]byte, error) {
		t.Errorf("%s was called", tool)
		return nil, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestAnAppendOfNoEventsCallsNothing(t *testing.T) {
	store := refuseCalls(t)
	ended, end := context.WithCancel(context.Background())
	end()
	for _, ids := range [][2]string{{"", ""}, {"a", ""}, {"a", "r"}, {"\xff", "r"}} {
		if err := store.AppendEvents(context.Background(), ids[0], ids[1]); err != nil {
			t.Errorf("%q: %v", ids, err)
		}
		if err := store.AppendEventsOnce(ended, "", ids[0], ids[1]); err != nil {
			t.Errorf("%q, once: %v", ids, err)
		}
	}
}

func TestIDsAreCheckedBeforeACall(t *testing.T) {
	store, ctx := refuseCalls(t), context.Background()
	event := runhistory.NewEvent(time.Time{}, runhistory.PlannerNoteData{}, nil)
	for ids, want := range map[[2]string]string{
		{"", ""}:      "agent id is required",
		{"", "r"}:     "agent id is required",
		{"a", ""}:     "run id is required",
		{"\xff", ""}:  "run id is required",
		{"\xff", "r"}: "agent id must be UTF-8 text",
		{"a", "\xff"}: "run id must be UTF-8 text",
	} {
		_, loading := store.LoadRun(ctx, ids[0], ids[1])
		_, loadingSince := store.LoadSince(ctx, ids[0], ids[1], "x")
		errs := []error{
			loading, loadingSince, store.AppendEvents(ctx, ids[0], ids[1], event), store.AppendEventsOnce(ctx, "x", ids[0], ids[1], event),
		}
		for _, err := range errs {
			if err == nil || err.Error() != want {
				t.Errorf("%q: %v", ids, err)
			}
		}
	}
	if err := store.AppendEventsOnce(ctx, "\xff", "a", "r", event); err == nil || err.Error() != "append id must be UTF-8 text" {
		t.Error(err)
	}
}

func TestDataWithoutAJSONFormIsRefusedBeforeACall(t *testing.T) {
	good := runhistory.NewEvent(time.Time{}, runhistory.PlannerNoteData{}, nil)
	for _, structured := range []any{make(chan int), func() {}, json.Number("1x"), runhistory.RawJSON(""), runhistory.RawJSON("{")} {
		bad := runhistory.Event{Type: runhistory.EventUserMessage, Data: map[string]any{"structured": structured}}
		err := refuseCalls(t).AppendEvents(context.Background(), "a", "r", good, bad)
		refused, isError := err.(*runhistory.Error)
		if !isError || refused.Code != "INPUT_INVALID" || !contains(refused.Message, "events[1].data") {
			t.Errorf("%T: %v", structured, err)
		}
	}
}
