package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"memcell-host/runhistory"
)

const text = `["a😀","b"]`

func event(of string, data map[string]any) runhistory.Event {
	return runhistory.Event{Type: runhistory.EventType(of), Timestamp: time.Unix(1, 0).UTC(), Data: data}
}

// inParts returns the events of a text as memcell/run-history stores it.
func inParts(name string) []runhistory.Event {
	digest := sha256.Sum256([]byte(text))
	return []runhistory.Event{
		event("part", map[string]any{"part_of": name, "index": 0, "text": text[:7]}),
		event("part", map[string]any{"part_of": name, "index": 1, "text": text[7:]}),
		event("snapshot", map[string]any{
			"format": "chess", "part_of": name, "parts": 2, "sha256": hex.EncodeToString(digest[:]), "preview": "[",
		}),
	}
}

func expectText(t *testing.T, found runhistory.Snapshot) {
	t.Helper()
	want := []runhistory.Event{event("snapshot", map[string]any{"format": "chess", "json": text})}
	expectEqual(t, "events", found.Events, want)
	data, err := runhistory.DecodeSnapshotData(found.Events[0])
	expectEqual(t, "error", err, nil)
	expectEqual(t, "data", data, runhistory.SnapshotData{Format: "chess", JSON: runhistory.RawJSON(text)})
	expectEqual(t, "damaged lines", found.Meta["damagedLines"], 0)
}

func TestATextInPartsComesWhole(t *testing.T) {
	store, stored := openStore(t), inParts("x")
	appendAll(t, store, stored[:1])
	among := load(t, store, "agent", "run")
	expectEqual(t, "events before the last one", len(among.Events), 0)
	appendAll(t, store, stored[1:])
	expectText(t, load(t, store, "agent", "run"))
	since, err := store.LoadSince(context.Background(), "agent", "run", among.Meta["cursor"].(string))
	expectEqual(t, "error", err, nil)
	expectText(t, since)
	// Another part with the same index changes nothing.
	appendAll(t, store, []runhistory.Event{event("part", map[string]any{"part_of": "x", "index": 1, "text": "]"})})
	expectText(t, load(t, store, "agent", "run"))
}

func TestATextThatIsNotWholeIsDamaged(t *testing.T) {
	store := openStore(t)
	appendAll(t, store, inParts("x")[1:], append([]runhistory.Event{
		event("part", map[string]any{"part_of": "y", "index": 0, "text": "[1"}),
	}, inParts("y")...))
	found := load(t, store, "agent", "run")
	expectEqual(t, "events", len(found.Events), 0)
	expectEqual(t, "damaged lines", found.Meta["damagedLines"], 2)
}

func TestAnOpaqueEventKeepsItsBytes(t *testing.T) {
	store := openStore(t)
	given := runhistory.OpaqueData{Format: "chess", JSON: runhistory.RawJSON(" {\"n\" : 1e400}\n")}
	appendAll(t, store, []runhistory.Event{runhistory.NewEvent(time.Time{}, given, nil)})
	found, err := runhistory.DecodeOpaqueData(load(t, store, "agent", "run").Events[0])
	expectEqual(t, "error", err, nil)
	expectEqual(t, "data", found, given)
}
