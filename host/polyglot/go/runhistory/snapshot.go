package runhistory

// A Snapshot is a run's history at one time.
type Snapshot struct {
	AgentID string
	RunID   string
	// Events are in the order of their timestamps; equal ones in the order of insertion. Nil if there are none.
	Events []Event
	// Meta has the run's size in "bytes" and "segments" (int), the number of "damagedLines" (int), which Events lacks, and a
	// "cursor" (string) for LoadSince.
	Meta map[string]any
}

// A Reader reads a snapshot. All that it returns are deep copies.
type Reader interface {
	Events() []Event
	// FilterByType returns the events of a type, in the snapshot's order.
	FilterByType(t EventType) []Event
	// Latest returns the last event of a type, and whether there is one.
	Latest(t EventType) (Event, bool)
}

// NewReader returns a reader of the snapshot as it is now.
func NewReader(snapshot Snapshot) Reader { return reader(deepCopy(snapshot.Events)) }

type reader []Event

func (r reader) Events() []Event {
	if len(r) == 0 {
		return nil
	}
	return deepCopy([]Event(r))
}

// FilterByType returns nil if the snapshot has no events at all, like goa-ai's.
func (r reader) FilterByType(t EventType) []Event {
	if len(r) == 0 {
		return nil
	}
	found := []Event{}
	for _, event := range r {
		if event.Type == t {
			found = append(found, deepCopy(event))
		}
	}
	return found
}

func (r reader) Latest(t EventType) (Event, bool) {
	for at := len(r) - 1; at >= 0; at-- {
		if r[at].Type == t {
			return deepCopy(r[at]), true
		}
	}
	return Event{}, false
}
