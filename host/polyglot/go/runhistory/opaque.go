package runhistory

import "bytes"

// OpaqueData is something that a program keeps in a form of its own.
type OpaqueData struct {
	// Format says whose form it is.
	Format string
	// JSON is kept byte for byte.
	JSON RawJSON
}

// SnapshotData is what all earlier events of the run amount to, in such a form.
type SnapshotData struct {
	Format string
	JSON   RawJSON
}

func (OpaqueData) EventType() EventType   { return EventOpaque }
func (SnapshotData) EventType() EventType { return EventSnapshot }

func (d OpaqueData) ToMap() map[string]any {
	return map[string]any{"format": d.Format, "json": string(d.JSON)}
}

func (d SnapshotData) ToMap() map[string]any { return OpaqueData(d).ToMap() }

func (d *OpaqueData) FromMap(data any) error { return fromMap(d, data, opaqueOf) }

func (d *SnapshotData) FromMap(data any) error {
	return fromMap(d, data, func(f *payloadFields) SnapshotData { return SnapshotData(opaqueOf(f)) })
}

func opaqueOf(f *payloadFields) OpaqueData {
	found := OpaqueData{f.requiredText("format"), f.jsonText("json")}
	if len(bytes.TrimSpace(found.JSON)) == 0 && f.fault == nil {
		f.fault = fault("EVENT_FIELD_MISSING", "memory: %s missing %q", f.of, "json")
	}
	return found
}

func DecodeOpaqueData(event Event) (OpaqueData, error) { return decode[OpaqueData](event) }

func DecodeSnapshotData(event Event) (SnapshotData, error) { return decode[SnapshotData](event) }
