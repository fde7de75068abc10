package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"memcell-host/runhistory"
)

// ofSize returns a note with a name and filling. Two large ones fit into a page, and each fills a segment.
func ofSize(second int64, name string, size int) runhistory.Event {
	text := name + strings.Repeat("x", size)
	return runhistory.NewEvent(time.Unix(second, 0), runhistory.PlannerNoteData{Note: text}, nil)
}

const small, large = 0, 250_000

func appendAll(t *testing.T, store *runhistory.Store, batches ...[]runhistory.Event) {
	t.Helper()
	for _, events := range batches {
		if err := store.AppendEvents(context.Background(), "agent", "run", events...); err != nil {
			t.Fatal(err)
		}
	}
}

func lettersOf(events []runhistory.Event) string {
	return strings.ReplaceAll(strings.Join(notesOf(events), ""), "x", "")
}

// counted returns a caller that counts the pages of loads.
func counted(call runhistory.Caller, pages *int) runhistory.Caller {
	return func(ctx context.Context, tool string, input []byte) ([]byte, error) {
		if tool == "LoadRun" {
			*pages++
		}
		return call(ctx, tool, input)
	}
}

func TestALongRunIsLoadedWhole(t *testing.T) {
	pages := 0
	store := storeWith(t, counted(callerOf(t, t.Name()), &pages))
	for second, name := range []string{"a", "b", "c"} {
		appendAll(t, store, []runhistory.Event{ofSize(int64(second), name, large)})
	}
	found := load(t, store, "agent", "run")
	expectEqual(t, "names", lettersOf(found.Events), "abc")
	expectEqual(t, "pages", pages, 2)
	if found.Meta["bytes"].(int) < 3*large || found.Meta["segments"] != 3 || found.Meta["damagedLines"] != 0 {
		t.Error(found.Meta)
	}
}

// When a page is full, a small event of a later segment must not overtake a large one that had no room.
func TestAFullPageLeavesOutNothing(t *testing.T) {
	store := openStore(t)
	appendAll(t, store,
		[]runhistory.Event{ofSize(1, "a", small), ofSize(5, "e", large)},
		[]runhistory.Event{ofSize(2, "b", large)},
		[]runhistory.Event{ofSize(3, "c", large)},
		[]runhistory.Event{ofSize(3, "d", small), ofSize(9, "f", small)},
	)
	expectEqual(t, "names", lettersOf(load(t, store, "agent", "run").Events), "abcdef")
}

func TestAnAppendAfterAFullSegmentIsSeen(t *testing.T) {
	store := openStore(t)
	appendAll(t, store, []runhistory.Event{ofSize(1, "a", large)}, []runhistory.Event{ofSize(2, "b", small)})
	expectEqual(t, "names", lettersOf(load(t, store, "agent", "run").Events), "ab")
}

func TestARunThatIsDeletedWhileItIsLoadedIsEmpty(t *testing.T) {
	pages := 0
	call := callerOf(t, t.Name())
	store := storeWith(t, counted(func(ctx context.Context, tool string, input []byte) ([]byte, error) {
		answer, err := call(ctx, tool, input)
		if tool == "LoadRun" && pages == 1 {
			deleted, _ := call(ctx, "DeleteRun", []byte(`{"agentId":"agent","runId":"run"}`))
			t.Logf("%s", deleted)
		}
		return answer, err
	}, &pages))
	for second, name := range []string{"a", "b", "c"} {
		appendAll(t, store, []runhistory.Event{ofSize(int64(second), name, large)})
	}
	found := load(t, store, "agent", "run")
	expectEqual(t, "events", len(found.Events), 0)
	expectEqual(t, "segments", found.Meta["segments"], 0)
	expectEqual(t, "pages", pages, 3)
}

// A reader takes no lock, and can meet a run's first files before run.json, which says how far the append goes.
func TestAFirstAppendIsOneSegment(t *testing.T) {
	store := openStore(t)
	batch := func() []runhistory.Event {
		return []runhistory.Event{ofSize(1, "a", large/2), ofSize(2, "b", large/2), ofSize(3, "c", small)}
	}
	appendAll(t, store, batch())
	expectEqual(t, "segments", load(t, store, "agent", "run").Meta["segments"], 1)
	appendAll(t, store, batch())
	found := load(t, store, "agent", "run")
	expectEqual(t, "segments", found.Meta["segments"], 4)
	expectEqual(t, "names", lettersOf(found.Events), "aabbcc")
}
