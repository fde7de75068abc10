package runhistory

// PlannerNoteData is a note of a planner.
type PlannerNoteData struct {
	Note string
}

func (PlannerNoteData) EventType() EventType { return EventPlannerNote }

func (d PlannerNoteData) ToMap() map[string]any { return map[string]any{"note": d.Note} }

func (d *PlannerNoteData) FromMap(data any) error {
	return fromMap(d, data, func(f *payloadFields) PlannerNoteData {
		return PlannerNoteData{f.requiredText("note")}
	})
}

func DecodePlannerNoteData(event Event) (PlannerNoteData, error) {
	return decode[PlannerNoteData](event)
}
