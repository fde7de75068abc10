package runhistory

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
)

// payloadFields reads the fields of an event's data. The first fault is kept, and later ones are not looked for.
type payloadFields struct {
	of    EventType
	data  map[string]any
	fault error
}

// fromMap reads a payload from its map. It also takes the payload itself, or a pointer to it.
func fromMap[T EventData](target *T, data any, read func(*payloadFields) T) error {
	of := (*target).EventType()
	switch typed := data.(type) {
	case T:
		*target = deepCopy(typed)
		return nil
	case *T:
		if typed != nil {
			*target = deepCopy(*typed)
			return nil
		}
		data = nil
	}
	if data == nil {
		return fault("EVENT_DATA_NIL", "memory: %s data is nil", of)
	}
	given, isMap := data.(map[string]any)
	if !isMap {
		return fault("EVENT_DATA_NOT_MAP", "memory: %s data must be map[string]any, got %s", of, typeName(data))
	}
	fields := &payloadFields{of: of, data: given}
	if found := read(fields); fields.fault == nil {
		*target = found
	}
	return fields.fault
}

// decode reads an event's payload. The event must have the payload's type.
func decode[T EventData, P interface {
	*T
	FromMap(data any) error
}](event Event) (T, error) {
	var found T
	if want := found.EventType(); event.Type != want {
		return found, fault("EVENT_TYPE_MISMATCH", "memory: decode %s as %s", event.Type, want)
	}
	err := P(&found).FromMap(event.Data)
	return found, err
}

// requiredText returns a text that must be there, but can be empty.
func (f *payloadFields) requiredText(key string) string {
	if _, exists := f.data[key]; !exists && f.fault == nil {
		f.fault = fault("EVENT_FIELD_MISSING", "memory: %s missing %q", f.of, key)
	}
	return f.asText(key, f.data[key])
}

func (f *payloadFields) text(key string) string {
	if f.data[key] == nil {
		return ""
	}
	return f.asText(key, f.data[key])
}

func (f *payloadFields) asText(key string, value any) string {
	switch typed := value.(type) {
	case string:
		return typed
	case ToolIdent:
		return string(typed)
	}
	f.refuse(key, "must be string, got %s", typeName(value))
	return ""
}

// jsonText returns JSON text. An older form of the field has the value itself.
func (f *payloadFields) jsonText(key string) RawJSON {
	switch typed := f.data[key].(type) {
	case string:
		if typed == "" {
			return nil
		}
		return RawJSON(typed)
	case RawJSON:
		return append(RawJSON(nil), typed...)
	}
	text, err := encodeJSON(f.data[key])
	if err != nil {
		f.fail("memory: encode %s field %q: %v", f.of, key, err)
	}
	if err != nil || string(text) == "null" {
		return nil
	}
	return text
}

func (f *payloadFields) flag(key string) bool {
	value, isFlag := f.data[key].(bool)
	if !isFlag && f.data[key] != nil {
		f.refuse(key, "must be bool, got %s", typeName(f.data[key]))
	}
	return value
}

func (f *payloadFields) int(key string) int {
	whole, isWhole := wholeOf(f.data[key])
	if !isWhole || int64(int(whole)) != whole {
		f.refuse(key, "must be int-compatible, got %s", typeName(f.data[key]))
	}
	return int(whole)
}

func (f *payloadFields) duration(key string) time.Duration {
	whole, isWhole := wholeOf(f.data[key])
	if !isWhole {
		f.refuse(key, "must be duration-compatible, got %s", typeName(f.data[key]))
	}
	return time.Duration(whole)
}

// bytes returns the bytes of a base64 text. An older form of the field has the bytes themselves.
func (f *payloadFields) bytes(key string) []byte {
	switch typed := f.data[key].(type) {
	case nil:
		return nil
	case []byte:
		return append([]byte(nil), typed...)
	case string:
		found, err := base64.StdEncoding.DecodeString(typed)
		if err != nil {
			f.refuse(key, "must be base64, got invalid string")
		}
		return append([]byte(nil), found...)
	}
	f.refuse(key, "must be string, got %s", typeName(f.data[key]))
	return nil
}

// structOf returns a field with the form of T, or nil if there is none.
func structOf[T any](f *payloadFields, key string) *T {
	var found *T
	text, err := encodeJSON(f.data[key])
	if err == nil {
		err = decodeJSON(text, &found)
	}
	if err != nil {
		f.fail("memory: decode %s field %q: %v", f.of, key, err)
	}
	return found
}

func (f *payloadFields) refuse(key, format string, values ...any) {
	f.fail("memory: %s field %q %s", f.of, key, fmt.Sprintf(format, values...))
}

func (f *payloadFields) fail(format string, values ...any) {
	if f.fault == nil {
		f.fault = fault("EVENT_FIELD_INVALID", format, values...)
	}
}

// typeName returns a type as Go prints it. A json.Number counts as float64, which encoding/json makes of a number by default.
func typeName(value any) string {
	if _, isNumber := value.(json.Number); isNumber {
		return "float64"
	}
	return fmt.Sprintf("%T", value)
}
