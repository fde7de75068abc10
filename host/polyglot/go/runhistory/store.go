package runhistory

import (
	"context"
	"errors"
	"unicode/utf8"
)

// A Caller calls one of the plugin's tools for one user and returns the answer's envelope. It must return when ctx ends, and must
// not change anything afterwards.
type Caller func(ctx context.Context, tool string, input []byte) (envelope []byte, err error)

// Options say how a Store reaches the plugin.
type Options struct {
	Call Caller // required
}

// A Store keeps the runs of one user. Several goroutines can share it. It shares no data with its callers.
type Store struct {
	call    Caller
	writing chan struct{} // holds a value while one append runs
}

// NewStore returns an error if the options have no Caller.
func NewStore(options Options) (*Store, error) {
	if options.Call == nil {
		return nil, errors.New("client is required")
	}
	return &Store{call: options.Call, writing: make(chan struct{}, 1)}, nil
}

// AppendEvents appends the events next to each other, or none of them. It waits while another process writes for the same user. If
// ctx ends before the events are stored, none is, and the error is that of ctx.
func (s *Store) AppendEvents(ctx context.Context, agentID, runID string, events ...Event) error {
	return s.append(ctx, nil, agentID, runID, events)
}

// AppendEventsOnce is like AppendEvents, but does nothing if an earlier append to the run had the same id.
func (s *Store) AppendEventsOnce(ctx context.Context, appendID, agentID, runID string, events ...Event) error {
	return s.append(ctx, &appendID, agentID, runID, events)
}

func (s *Store) append(ctx context.Context, appendID *string, agentID, runID string, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	if err := checkIDs(agentID, runID); err != nil {
		return err
	}
	if appendID != nil && !utf8.ValidString(*appendID) {
		return notText("append id")
	}
	wired, err := toWire(events)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	}
	return s.use(ctx, "AppendRunEvents", appendRequest{agentID, runID, wired, appendID}, nil)
}

// LoadRun returns all events of a run. A run that does not exist has none.
func (s *Store) LoadRun(ctx context.Context, agentID, runID string) (Snapshot, error) {
	return s.LoadSince(ctx, agentID, runID, "")
}

// LoadSince returns the events that were appended after the snapshot with this cursor. An empty cursor stands for all events. The
// code is CURSOR_INVALID if the run is not the one of that snapshot; load it from its start then.
func (s *Store) LoadSince(ctx context.Context, agentID, runID, cursor string) (Snapshot, error) {
	if err := checkIDs(agentID, runID); err != nil {
		return Snapshot{}, err
	}
	for {
		found, err := s.load(ctx, loadRequest{agentID, runID, cursor})
		if err != nil {
			return Snapshot{}, err
		} else if found != nil {
			return *found, nil
		}
	}
}

// load returns nil if the run was deleted while it was loaded.
func (s *Store) load(ctx context.Context, request loadRequest) (*Snapshot, error) {
	stored, err := s.loadPages(ctx, request)
	if stored == nil || err != nil {
		return nil, err
	}
	events, lost := withTexts(stored.Events, partsIn(stored.Events))
	if lost > 0 && request.Cursor != "" { // perhaps the cursor is among the parts of a text
		whole, err := s.loadPages(ctx, loadRequest{request.AgentID, request.RunID, ""})
		if whole == nil || err != nil {
			return nil, err
		}
		events, lost = withTexts(stored.Events, partsIn(append(whole.Events, stored.Events...)))
	}
	stored.Events = events
	stored.Meta["damagedLines"] = stored.Meta["damagedLines"].(int) + lost
	return stored, nil
}

// loadPages returns nil if the run was deleted while it was loaded.
func (s *Store) loadPages(ctx context.Context, request loadRequest) (*Snapshot, error) {
	var pages []loadAnswer
	for more := true; more; {
		var page loadAnswer
		err := s.use(ctx, "LoadRun", request, &page)
		var refused *Error
		if errors.As(err, &refused) && refused.Code == "CURSOR_INVALID" && len(pages) > 0 {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		pages = append(pages, page)
		request.Cursor, more = page.Meta.Cursor, page.More
	}
	return snapshotOf(request.AgentID, request.RunID, pages)
}

// snapshotOf returns events as they are stored, parts of texts among them.
func snapshotOf(agentID, runID string, pages []loadAnswer) (*Snapshot, error) {
	snapshot := &Snapshot{AgentID: agentID, RunID: runID}
	damaged := 0
	for _, page := range pages {
		damaged += page.Meta.DamagedLines
		for _, wired := range page.Events {
			event, err := wired.event()
			if err != nil {
				return nil, err
			}
			snapshot.Events = append(snapshot.Events, event)
		}
	}
	first, last := pages[0].Meta, pages[len(pages)-1].Meta // a later page also counts later appends
	snapshot.Meta = map[string]any{
		"bytes": first.Bytes, "segments": first.Segments, "damagedLines": damaged, "cursor": last.Cursor,
	}
	return snapshot, nil
}

// checkIDs also refuses texts that JSON cannot hold, because two of them could become the same id.
func checkIDs(agentID, runID string) error {
	switch {
	case agentID == "":
		return fault("AGENT_ID_REQUIRED", "agent id is required")
	case runID == "":
		return fault("RUN_ID_REQUIRED", "run id is required")
	case !utf8.ValidString(agentID):
		return notText("agent id")
	case !utf8.ValidString(runID):
		return notText("run id")
	}
	return nil
}

func notText(name string) error { return fault("INPUT_INVALID", "%s must be UTF-8 text", name) }
