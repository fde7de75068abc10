package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"memcell-host/runhistory"
)

// The tests of the package runhistory with this host and the plugin of the build. All share one host: each has users of its own.

const built = "../../../dist/" // "npm run build" and "npm run build:test-plugins" fill it

var dataDir string

func TestMain(m *testing.M) {
	var err error
	if dataDir, err = os.MkdirTemp("", "memcell-go-"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(dataDir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

var historyHost = sync.OnceValues(func() (*Host, error) { return Open(built+"plugins/run-history.wasm", dataDir, Options{}) })

// callerOf connects a store with the host, as the README shows.
func callerOf(t *testing.T, userID string) runhistory.Caller {
	host, err := historyHost()
	if err != nil {
		t.Fatalf("%v: run npm run build first", err)
	}
	return func(ctx context.Context, tool string, input []byte) ([]byte, error) {
		return host.Call(Request{Tool: tool, Audience: "host", UserID: &userID, Input: input, Context: ctx}), nil
	}
}

func storeWith(t *testing.T, call runhistory.Caller) *runhistory.Store {
	store, err := runhistory.NewStore(runhistory.Options{Call: call})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// openStore returns a store of the test's own user.
func openStore(t *testing.T) *runhistory.Store { return storeWith(t, callerOf(t, t.Name())) }

// lockOf is the file that a host locks while it writes for a user.
func lockOf(userID string) string {
	return filepath.Join(dataDir, "users", folderName(userID), ".memcell/lock")
}

func note(text string) runhistory.Event {
	return runhistory.NewEvent(time.Time{}, runhistory.PlannerNoteData{Note: text}, nil)
}

func load(t *testing.T, store *runhistory.Store, agentID, runID string) runhistory.Snapshot {
	t.Helper()
	snapshot, err := store.LoadRun(context.Background(), agentID, runID)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// notesOf returns the texts of planner notes.
func notesOf(events []runhistory.Event) []string {
	notes := []string{}
	for _, event := range events {
		data, err := runhistory.DecodePlannerNoteData(event)
		if err != nil {
			data.Note = err.Error()
		}
		notes = append(notes, data.Note)
	}
	return notes
}

// jsonValue returns a value as encoding/json sees it, with the digits of its numbers.
func jsonValue(t *testing.T, value any) (found any) {
	t.Helper()
	text, err := json.Marshal(value)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := errors.Join(err, decoder.Decode(&found)); err != nil {
		t.Fatal(err)
	}
	return found
}

func expectEqual(t *testing.T, of string, found, want any) {
	t.Helper()
	if !reflect.DeepEqual(found, want) {
		t.Fatalf("%s: found %s, not %s", of, shortened(found), shortened(want))
	}
}

func shortened(value any) string {
	text := fmt.Sprintf("%+v", value)
	return text[:min(len(text), 2000)]
}
