package runhistory

// UserMessageData is what a person said.
type UserMessageData struct {
	Message string
	// Structured is any JSON value, or nil.
	Structured any
}

// AssistantMessageData is what an agent answered.
type AssistantMessageData struct {
	Message string
	// Structured is any JSON value, or nil.
	Structured any
}

func (UserMessageData) EventType() EventType      { return EventUserMessage }
func (AssistantMessageData) EventType() EventType { return EventAssistantMessage }

func (d UserMessageData) ToMap() map[string]any      { return messageMap(d.Message, d.Structured) }
func (d AssistantMessageData) ToMap() map[string]any { return messageMap(d.Message, d.Structured) }

func messageMap(message string, structured any) map[string]any {
	data := map[string]any{}
	setUnlessZero(data, "message", message)
	if structured != nil {
		data["structured"] = deepCopy(structured)
	}
	return data
}

func (d *UserMessageData) FromMap(data any) error {
	return fromMap(d, data, func(f *payloadFields) UserMessageData {
		return UserMessageData{f.text("message"), deepCopy(f.data["structured"])}
	})
}

func (d *AssistantMessageData) FromMap(data any) error {
	return fromMap(d, data, func(f *payloadFields) AssistantMessageData {
		return AssistantMessageData{f.text("message"), deepCopy(f.data["structured"])}
	})
}

func DecodeUserMessageData(event Event) (UserMessageData, error) {
	return decode[UserMessageData](event)
}

func DecodeAssistantMessageData(event Event) (AssistantMessageData, error) {
	return decode[AssistantMessageData](event)
}
