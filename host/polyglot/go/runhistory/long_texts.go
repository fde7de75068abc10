package runhistory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
)

// eventPart is a piece of a JSON text that is too long for one event. memcell/run-history stores such texts; no reader sees parts.
const eventPart EventType = "part"

const partsMax = 128

// partName is the index of a part of a text.
type partName struct {
	of    string
	index json.Number
}

// partsIn returns the texts of the parts among the events. Of those with one name the first counts.
func partsIn(events []Event) map[partName]string {
	parts := map[partName]string{}
	for _, event := range events {
		if event.Type != eventPart {
			continue
		}
		data, _ := event.Data.(map[string]any)
		of, _ := data["part_of"].(string)
		index, _ := data["index"].(json.Number)
		if _, exists := parts[partName{of, index}]; !exists {
			parts[partName{of, index}], _ = data["text"].(string)
		}
	}
	return parts
}

// withTexts returns the events that are no parts, with whole texts, and how many have none: a part is missing or was changed.
func withTexts(events []Event, parts map[partName]string) (found []Event, lost int) {
	for _, event := range events {
		data, _ := event.Data.(map[string]any)
		of, isLong := data["part_of"].(string)
		if event.Type == eventPart {
			continue
		}
		if isLong && data["json"] == nil && (event.Type == EventOpaque || event.Type == EventSnapshot) {
			text := joined(parts, of, data["parts"])
			digest := sha256.Sum256([]byte(text))
			if data["sha256"] != hex.EncodeToString(digest[:]) {
				lost++
				continue
			}
			event.Data = map[string]any{"format": data["format"], "json": text}
		}
		found = append(found, event)
	}
	return found, lost
}

func joined(parts map[partName]string, of string, count any) string {
	var text strings.Builder
	number, _ := wholeOf(count)
	for index := range min(number, partsMax) {
		text.WriteString(parts[partName{of, json.Number(strconv.FormatInt(index, 10))}])
	}
	return text.String()
}
