package runhistory

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"
)

// wholeOf returns a number without its fraction, and 0 for nil.
func wholeOf(value any) (whole int64, isWhole bool) {
	switch typed := value.(type) {
	case nil:
		return 0, true
	case int:
		return int64(typed), true
	case int8:
		return int64(typed), true
	case int16:
		return int64(typed), true
	case int32:
		return int64(typed), true
	case int64:
		return typed, true
	case time.Duration:
		return int64(typed), true
	case float64:
		return int64(typed), typed >= math.MinInt64 && typed < math.MaxInt64
	case json.Number:
		whole, err := typed.Int64()
		if float, isFloat := typed.Float64(); errors.Is(err, strconv.ErrSyntax) && isFloat == nil {
			return wholeOf(float)
		}
		return whole, err == nil
	}
	return 0, false
}
