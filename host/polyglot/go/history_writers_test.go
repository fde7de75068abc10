package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"memcell-host/runhistory"
)

const batchSize = 3

// batchOf names its events, so that a test can see whether they are together.
func batchOf(writer string, number int) (events []runhistory.Event) {
	for part := range batchSize {
		labels := map[string]string{"batch": fmt.Sprintf("%s-%d", writer, number)}
		data := runhistory.PlannerNoteData{Note: fmt.Sprint(part)}
		events = append(events, runhistory.NewEvent(time.Time{}, data, labels))
	}
	return events
}

// batchesIn returns the batches in their order. Each must be whole and its events next to each other.
func batchesIn(t *testing.T, events []runhistory.Event) (batches []string) {
	t.Helper()
	for at, event := range events {
		name := event.Labels["batch"]
		if at%batchSize == 0 {
			batches = append(batches, name)
		}
		if name != batches[len(batches)-1] || notesOf(events[at : at+1])[0] != fmt.Sprint(at%batchSize) {
			t.Errorf("event %d of %d is part %s of %s, after %v", at, len(events), notesOf(events[at : at+1])[0], name, batches)
			return nil
		}
	}
	if len(events)%batchSize != 0 {
		t.Errorf("%d events are no whole batches", len(events))
	}
	return batches
}

// expectInOrder checks that the batches have each writer's batches once and in the order of that writer.
func expectInOrder(t *testing.T, batches, writers []string, each int) {
	t.Helper()
	next := map[string]int{}
	for _, batch := range batches {
		for _, writer := range writers {
			if batch == fmt.Sprintf("%s-%d", writer, next[writer]) {
				next[writer]++
				break
			}
		}
	}
	expectEqual(t, "number of batches", len(batches), len(writers)*each)
	for _, writer := range writers {
		expectEqual(t, "batches of "+writer, next[writer], each)
	}
}

func TestManyGoroutinesShareAStore(t *testing.T) {
	const each = 25
	writers := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	// Two stores of one user: each also waits for the other.
	stores := []*runhistory.Store{openStore(t), openStore(t)}
	ctx, stop := context.WithCancel(context.Background())
	var reading, writing sync.WaitGroup
	reading.Go(func() {
		for seen := 0; ctx.Err() == nil; {
			snapshot, err := stores[0].LoadRun(context.Background(), "agent", "run")
			if err != nil || len(snapshot.Events) < seen {
				t.Errorf("%d events, then %d: %v", seen, len(snapshot.Events), err)
				return
			}
			seen = len(snapshot.Events)
			batchesIn(t, snapshot.Events)
		}
	})
	for at, writer := range writers {
		writing.Go(func() {
			for number := range each {
				if err := stores[at%2].AppendEvents(context.Background(), "agent", "run", batchOf(writer, number)...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	stop()
	reading.Wait()
	batches := batchesIn(t, load(t, stores[0], "agent", "run").Events)
	expectInOrder(t, batches, writers, each)
}

// A wave of retries of one append is one append.
func TestGoroutinesThatRepeatAnAppendStoreItOnce(t *testing.T) {
	stores := []*runhistory.Store{openStore(t), openStore(t)}
	var writing sync.WaitGroup
	for at := range 8 {
		writing.Go(func() {
			if err := stores[at%2].AppendEventsOnce(context.Background(), "attempt", "agent", "run", batchOf("w", 0)...); err != nil {
				t.Error(err)
			}
		})
	}
	writing.Wait()
	expectInOrder(t, batchesIn(t, load(t, stores[0], "agent", "run").Events), []string{"w"}, 1)
}
