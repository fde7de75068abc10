package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
)

type hosted struct {
	Plugin, DataDir, SHA256 string
	Limits                  struct{ FuelPolls, DeadlineMs int }
}

type line struct {
	Tool, Audience string
	Input          json.RawMessage
	Context        struct {
		UserID  *string
		EpochMs *int64
	}
}

// Serves one plugin over standard input and output: the first line of JSON says what to host, and each further line is a call.
func main() {
	in, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	text, _ := in.ReadBytes('\n')
	var first hosted
	if err := json.Unmarshal(text, &first); err != nil {
		panic(err)
	}
	options := Options{SHA256: first.SHA256, FuelPolls: first.Limits.FuelPolls, DeadlineMs: first.Limits.DeadlineMs}
	host, err := Open(first.Plugin, first.DataDir, options)
	var refused *Refusal
	if errors.As(err, &refused) {
		_ = out.Encode(refused.Envelope())
		os.Exit(1)
	} else if err != nil {
		panic(err)
	}
	_ = out.Encode(map[string]bool{"ok": true})
	for text, _ = in.ReadBytes('\n'); len(text) > 0; text, _ = in.ReadBytes('\n') {
		next := line{Audience: "model"}
		answer := (&Refusal{Code: "INPUT_INVALID", Message: "Cannot call a tool: the line is no call"}).Envelope()
		if json.Unmarshal(text, &next) == nil {
			of := next.Context
			answer = host.Call(Request{Tool: next.Tool, Audience: next.Audience, UserID: of.UserID, Input: next.Input, EpochMs: of.EpochMs})
		}
		if err := out.Encode(answer); err != nil {
			panic(err)
		}
	}
}
