// Command polyglot runs a memcell plugin under the Extism Go SDK (wazero), with the five capabilities over a map of
// files in memory. It reads steps as JSON from standard input and prints the envelopes and the files that are left.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	extism "github.com/extism/go-sdk"
)

type step struct {
	Export string          `json:"export"`
	Input  json.RawMessage `json:"input"`
}

type report struct {
	Results []json.RawMessage `json:"results"`
	Files   map[string]string `json:"files"` // encoding/json sorts the keys
}

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "polyglot:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: polyglot PLUGIN.wasm < STEPS.json")
	}
	var steps []step
	if err := json.NewDecoder(in).Decode(&steps); err != nil {
		return fmt.Errorf("read steps: %w", err)
	}
	manifest := extism.Manifest{
		Wasm:    []extism.Wasm{extism.WasmFile{Path: args[0]}},
		Memory:  &extism.ManifestMemory{MaxPages: 1024},
		Timeout: 10_000,
	}
	// Without WASI a plugin that wants more than the kernel and the capabilities does not even link.
	plugin, err := extism.NewCompiledPlugin(ctx, manifest, extism.PluginConfig{EnableWasi: false}, hostFunctions())
	if err != nil {
		return fmt.Errorf("load plugin: %w", err)
	}
	defer plugin.Close(ctx)

	done := report{Results: []json.RawMessage{}, Files: map[string]string{}}
	for _, step := range steps {
		envelope, err := callTool(ctx, plugin, step, done.Files)
		if err != nil {
			return fmt.Errorf("call %s: %w", step.Export, err)
		}
		done.Results = append(done.Results, envelope)
	}
	return json.NewEncoder(out).Encode(done)
}

// callTool calls one export on an instance of its own, so that no call sees what a former one left in memory.
func callTool(ctx context.Context, plugin *extism.CompiledPlugin, step step, files map[string]string) ([]byte, error) {
	instance, err := plugin.Instance(ctx, extism.PluginInstanceConfig{})
	if err != nil {
		return nil, err
	}
	defer instance.Close(ctx)

	current := &call{files: files, staged: map[string]*string{}}
	ctx = context.WithValue(ctx, callKey{}, current)
	code, answer, failure := instance.CallWithContext(ctx, step.Export, step.Input)
	if current.denial != nil { // decides the call, whatever the guest says afterwards
		return json.Marshal(current.denial)
	}
	if failure != nil { // its text is what the guest gave to error_set; of a trap, the reason
		answer = []byte(failure.Error())
	}
	var envelope struct {
		Ok *bool `json:"ok"`
	}
	isSuccess := failure == nil && code == 0
	if json.Unmarshal(answer, &envelope) != nil || envelope.Ok == nil || *envelope.Ok != isSuccess {
		return nil, fmt.Errorf("code %d without an envelope to match: %.300q", code, answer)
	}
	if isSuccess {
		current.commit()
	}
	return answer, nil
}

// callKey finds the call in the context: host functions are bound to the compiled plugin, before there is any call.
type callKey struct{}

func hostFunctions() []extism.HostFunction {
	var functions []extism.HostFunction
	block := []extism.ValueType{extism.ValueTypePTR}
	for name := range capabilities {
		capability := func(ctx context.Context, plugin *extism.CurrentPlugin, stack []uint64) {
			text, _ := plugin.ReadBytes(stack[0]) // a handle of no block counts as an empty request, which is denied
			answer, err := json.Marshal(ctx.Value(callKey{}).(*call).answer(name, text))
			if err == nil {
				stack[0], err = plugin.WriteBytes(answer)
			}
			if err != nil {
				panic(err) // there is no memory left for any reply
			}
		}
		functions = append(functions, extism.NewHostFunctionWithStack(name, capability, block, block))
	}
	return functions
}
