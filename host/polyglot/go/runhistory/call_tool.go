package runhistory

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"
)

// While another process writes for the user, a call is BUSY: it has changed nothing, and costs less than a millisecond.
const busyDelayMin, busyDelayMax = time.Millisecond, 16 * time.Millisecond

// use calls a tool until it is not BUSY, and reads the data of its answer.
func (s *Store) use(ctx context.Context, tool string, request, data any) error {
	input, err := encodeJSON(request)
	if err != nil {
		return err
	}
	for delay := busyDelayMin; ; delay = min(2*delay, busyDelayMax) {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, err := s.call(ctx, tool, input)
		if err != nil {
			return err
		}
		var answer envelope
		if err := json.Unmarshal(text, &answer); err != nil || !answer.OK && answer.Error == nil {
			return fault("OUTPUT_INVALID", "Cannot use the answer of %s: it is not an envelope", tool)
		}
		switch {
		case answer.OK && data == nil:
			return nil
		case answer.OK:
			return json.Unmarshal(answer.Data, data)
		case answer.Error.Code == "CANCELLED" && ctx.Err() != nil:
			return ctx.Err()
		case answer.Error.Code != "BUSY":
			return answer.Error
		}
		wait(ctx, delay/2+rand.N(delay/2)) // random, so that two processes do not try again in step
	}
}

// wait returns earlier if ctx ends.
func wait(ctx context.Context, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
