package runhistory

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// RawJSON is a JSON text, kept byte for byte. Nil is none.
type RawJSON []byte

// MarshalJSON returns the text itself, and null for nil. An empty text that is not nil is an error.
func (r RawJSON) MarshalJSON() ([]byte, error) {
	switch {
	case r == nil:
		return []byte("null"), nil
	case len(bytes.TrimSpace(r)) == 0:
		return nil, errors.New("rawjson: non-nil message is empty")
	case !json.Valid(r):
		return nil, invalidJSON()
	}
	return r, nil
}

// UnmarshalJSON keeps a copy of the text, and nil for null.
func (r *RawJSON) UnmarshalJSON(text []byte) error {
	text = bytes.TrimSpace(text)
	if !json.Valid(text) {
		return invalidJSON()
	}
	*r = nil
	if string(text) != "null" {
		*r = bytes.Clone(text)
	}
	return nil
}

func invalidJSON() error { return &Error{Code: "JSON_INVALID", Message: "rawjson: invalid JSON"} }

// decodeJSON reads one JSON value. Its numbers keep their digits.
func decodeJSON(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return &Error{Code: "JSON_TRAILING_DATA", Message: "rawjson: trailing data"}
	}
	return nil
}

// encodeJSON does not escape <, > and &, as json.Marshal does.
func encodeJSON(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
