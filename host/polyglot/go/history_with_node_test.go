package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"memcell-host/runhistory"
)

// A nodeHost is the Node host in a process of its own, which answers each line of JSON with one.
type nodeHost struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func startNode(t *testing.T) *nodeHost {
	t.Helper()
	command := exec.Command("node", built+"test/polyglot/node/main.js")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	node := &nodeHost{in, bufio.NewReader(out)}
	hosted := map[string]any{"plugin": built + "plugins/run-history.wasm", "dataDir": dataDir}
	if answer, err := node.ask(hosted); err != nil || string(answer) != "{\"ok\":true}\n" {
		t.Fatalf("%s %v", answer, err)
	}
	return node
}

func (n *nodeHost) ask(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	if _, err := n.in.Write(append(text, '\n')); err != nil {
		return nil, err
	}
	return n.out.ReadBytes('\n')
}

// callerOf calls tools one after the other: the process answers lines in their order.
func (n *nodeHost) callerOf(userID string) runhistory.Caller {
	return func(_ context.Context, tool string, input []byte) ([]byte, error) {
		return n.ask(map[string]any{
			"tool": tool, "audience": "host", "input": json.RawMessage(input), "context": map[string]any{"userId": userID},
		})
	}
}

func TestNodeAndGoShareAFolder(t *testing.T) {
	const each = 60
	stores := map[string]*runhistory.Store{
		"go": openStore(t), "node": storeWith(t, startNode(t).callerOf(t.Name())),
	}
	written := make(chan error)
	for writer, store := range stores {
		go func() {
			for number := range each {
				if err := store.AppendEvents(context.Background(), "agent", "run", batchOf(writer, number)...); err != nil {
					written <- err
					return
				}
			}
			written <- nil
		}()
	}
	for range stores {
		expectEqual(t, "error", <-written, nil)
	}
	found, asNode := load(t, stores["go"], "agent", "run"), load(t, stores["node"], "agent", "run")
	expectInOrder(t, batchesIn(t, found.Events), []string{"go", "node"}, each)
	expectEqual(t, "snapshot", found, asNode)
	// Either host continues from the other's cursor, and stores nothing that the other has stored.
	late := runhistory.NewEvent(time.Unix(0, 1), runhistory.UserMessageData{Structured: json.Number("1e400")}, nil)
	for _, name := range []string{"go", "node"} {
		if err := stores[name].AppendEventsOnce(context.Background(), "late", "agent", "run", late); err != nil {
			t.Fatal(err)
		}
	}
	for _, store := range stores {
		since, err := store.LoadSince(context.Background(), "agent", "run", asNode.Meta["cursor"].(string))
		expectEqual(t, "error", err, nil)
		expectEqual(t, "new events", since.Events, []runhistory.Event{{
			Type: runhistory.EventUserMessage, Timestamp: time.Unix(0, 1).UTC(), Data: map[string]any{"structured": json.Number("1e400")},
		}})
	}
}
