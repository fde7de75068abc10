package runhistory

import "encoding/base64"

// ThinkingData is a block of a model's reasoning, for exact replay.
type ThinkingData struct {
	Text string
	// Signature is the provider's signature of the text.
	Signature string
	// Redacted is reasoning that only the provider can read.
	Redacted []byte
	// ContentIndex is the index of the provider's content block.
	ContentIndex int
	// Final reports whether the provider has completed the block.
	Final bool
}

func (ThinkingData) EventType() EventType { return EventThinking }

func (d ThinkingData) ToMap() map[string]any {
	data := map[string]any{"content_index": d.ContentIndex, "final": d.Final}
	setUnlessZero(data, "text", d.Text)
	setUnlessZero(data, "signature", d.Signature)
	setUnlessZero(data, "redacted", base64.StdEncoding.EncodeToString(d.Redacted))
	return data
}

func (d *ThinkingData) FromMap(data any) error {
	return fromMap(d, data, func(f *payloadFields) ThinkingData {
		return ThinkingData{
			Text:         f.text("text"),
			Signature:    f.text("signature"),
			Redacted:     f.bytes("redacted"),
			ContentIndex: f.int("content_index"),
			Final:        f.flag("final"),
		}
	})
}

func DecodeThinkingData(event Event) (ThinkingData, error) { return decode[ThinkingData](event) }
