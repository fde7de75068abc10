// Hosts a memcell plugin under the Extism Go SDK: the capability ABI, version 1, over a folder for each user. Linux only.
//
// Copy this file. A plugin gets no network, no WASI and no environment. Its only files are those of the scopes that its manifest
// names for the tool, in the folder of the call's user.
//
// This host leaves to you: quotas for a user's folder and for a call, an audit log, a queue, and a write-ahead log (a power cut
// between two files of one call keeps only the first). Audit a plugin file first (`memcell audit`), and pin it by its SHA-256.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const (
	inputBytesMax, outputBytesMax = 512 << 10, 512 << 10
	fileBytesMax                  = 2 << 20
	requestsMax, requestBytesMax  = 10_000, 8 << 20
	kernelPagesMax                = 1024 // pages of 64 KiB; the kernel's memory holds requests, replies and answers

	denied, unsafeFiles = "CAPABILITY_DENIED", "STORAGE_UNSAFE"
	lockOfOpenFile      = 37 // F_OFD_SETLK, which package syscall lacks
	folderTaken         = "Cannot open the user's folder: something else is in a folder's place"
	badPath             = `Cannot use path %s: allowed are relative paths inside the scope, without "." and ".."`
)

// Each capability: the right it needs, the keys of its request, and what it does.
var capabilities = []extism.HostFunction{
	bind(capability{"store_read", "read", []string{"path", "scope"}, (*call).storeRead}),
	bind(capability{"store_list", "list", []string{"prefix", "scope"}, (*call).storeList}),
	bind(capability{"store_write", "write", []string{"content", "path", "scope"}, (*call).storeWrite}),
	bind(capability{"store_trash", "trash", []string{"path", "scope"}, (*call).storeTrash}),
	bind(capability{"clock_now", "clock", nil, (*call).clockNow}),
}

type capability struct {
	name, right string
	keys        []string
	perform     func(c *call, at place, prefixOrContent string) map[string]any
}

var (
	scopePath  = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)
	codeForm   = regexp.MustCompile(`^[A-Z_]{1,64}$`)
	hiddenChar = regexp.MustCompile(`[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]`)
	userIDForm = regexp.MustCompile(`^[^/\\\p{Cc}\p{Z}\x{FEFF}]([^/\\\p{Cc}]*[^/\\\p{Cc}\p{Z}\x{FEFF}])?$`)
	deviceName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)
	// Codes that a guest may report on its own, besides those that its manifest declares.
	guestCodes = strings.Fields(`INPUT_INVALID ENTRY_NOT_FOUND ENTRY_UNREADABLE NAME_RESERVED NAME_CONFLICT
		VERSION_CONFLICT QUOTA_EXCEEDED CAPABILITY_DENIED GUEST_TRAPPED FUEL_EXHAUSTED MEMORY_EXCEEDED`)
	// Codes that end the call, whatever the guest answers afterwards.
	finalCodes = []string{denied, "STORAGE_FULL", "STORAGE_FAILED", "STORAGE_BUSY"}
)

// A Refusal is an error of the contract: a code, and a message for a model that reveals nothing about the machine. This file
// panics with it.
type Refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Issues  any    `json:"issues,omitempty"`
	// Readable is what a guest can still read of a file.
	Readable any `json:"-"`
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

func (r *Refusal) Envelope() json.RawMessage {
	envelope := map[string]any{"ok": false, "error": r}
	if r.Readable != nil {
		envelope["readable"] = r.Readable
	}
	return must(json.Marshal(envelope))
}

func refuse(isRefused bool, code, format string, values ...any) {
	if isRefused {
		panic(&Refusal{code, fmt.Sprintf(format, values...), nil, nil})
	}
}

// catch is deferred. It catches refusals. Any other panic is a bug in this program and goes on.
func catch(answer func(*Refusal)) {
	if fault := recover(); fault != nil {
		answer(fault.(*Refusal))
	}
}

// check reports that the disk failed, and no details.
func check(err error, expected ...error) {
	if err != nil && !slices.ContainsFunc(expected, func(each error) bool { return errors.Is(err, each) }) {
		isAny := func(codes ...error) bool {
			return slices.ContainsFunc(codes, func(each error) bool { return errors.Is(err, each) })
		}
		refuse(isAny(syscall.ENOSPC, syscall.EDQUOT), "STORAGE_FULL", "Cannot use the user's folder: the disk is full")
		refuse(isAny(syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM), "STORAGE_BUSY",
			"Cannot use the user's folder: the machine is short of open files or memory")
		refuse(true, "STORAGE_FAILED", "Cannot use the user's folder: the disk refused")
	}
}

func must[T any](value T, err error) T { check(err); return value }

// found returns nil if the file does not exist, or no longer exists.
func found[T any](value T, err error) T { check(err, os.ErrNotExist); return value }

// Options pin the plugin and lower its manifest's limits. The zero value pins nothing and keeps the manifest's limits.
type Options struct {
	SHA256                string // lower-case hexadecimal; set it whenever others have written the plugin
	FuelPolls, DeadlineMs int
}

// A Host is a compiled plugin and the folder of its users' data. If two calls write for one user at the same time, one is BUSY.
type Host struct {
	plugin   *extism.CompiledPlugin
	data     *os.Root
	manifest struct {
		ABI, FuelPolls, DeadlineMs int
		Tools                      []tool
		Errors                     []declared
	}
}

type declared struct{ Code string } // an error code that the plugin declares

type tool struct {
	Name, Export, Audience string
	Scopes, Rights         []string
}

// Open returns a *Refusal if the file is not the pinned one, or not a plugin.
func Open(pluginPath, dataDir string, options Options) (host *Host, err error) {
	const refused, reason = "PLUGIN_REFUSED", "Cannot load the plugin: %s"
	defer catch(func(refusal *Refusal) { err = refusal })
	wasm, err := os.ReadFile(pluginPath)
	refuse(err != nil, refused, reason, "the file cannot be read")
	pin := fmt.Sprintf("%x", sha256.Sum256(wasm))
	refuse(options.SHA256 != "" && options.SHA256 != pin, refused, reason, "it is not the pinned file")
	engine := wazero.NewRuntimeConfig().WithCompilationCache(wazero.NewCompilationCache()).WithCustomSections(true).
		WithCloseOnContextDone(true).WithMemoryLimitPages(kernelPagesMax) // the guest's memory also has its own maximum
	ctx, host := context.Background(), &Host{}
	module, err := wazero.NewRuntimeWithConfig(ctx, engine).CompileModule(ctx, wasm)
	refuse(err != nil, refused, reason, "it cannot be compiled")
	isOther := func(section api.CustomSection) bool { return section.Name() != "memcell:manifest" }
	sections := slices.DeleteFunc(module.CustomSections(), isOther)
	isPlugin := len(sections) == 1 && json.Unmarshal(sections[0].Data(), &host.manifest) == nil && host.manifest.ABI == 1 &&
		host.manifest.Tools != nil
	refuse(!isPlugin, refused, reason, "it does not have exactly one manifest of ABI version 1")
	host.manifest.DeadlineMs = min(host.manifest.DeadlineMs, cmp.Or(options.DeadlineMs, host.manifest.DeadlineMs))
	fuel := map[string]string{"memcell.fuelPolls": fmt.Sprint(cmp.Or(options.FuelPolls, host.manifest.FuelPolls))}
	hosted := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}, Config: fuel}
	config := extism.PluginConfig{RuntimeConfig: engine, EnableWasi: false}
	host.plugin, err = extism.NewCompiledPlugin(ctx, hosted, config, capabilities)
	refuse(err != nil, refused, reason, "it cannot be compiled")
	instance, err := host.plugin.Instance(ctx, extism.PluginInstanceConfig{})
	refuse(err != nil, refused, reason, "it imports more than a plugin gets")
	check(errors.Join(instance.Close(ctx), os.MkdirAll(dataDir, 0o700)))
	host.data = must(os.OpenRoot(dataDir)) // the operator chooses the data folder, so it may be a link
	return host, nil
}

// A Request is one call of a tool for one user.
type Request struct {
	Tool     string
	Audience string  // "model", or "host" for a tool that is not offered to models
	UserID   *string // from your authentication, never from a model; nil is refused
	Input    json.RawMessage
	EpochMs  *int64          // the time that the plugin sees; nil is the machine's
	Context  context.Context // when it ends, the call is CANCELLED and changes nothing; nil never ends
}

// Call returns the call's envelope: {"ok":true,"message","data"} or {"ok":false,"error":{"code","message"}}.
func (h *Host) Call(request Request) (envelope json.RawMessage) {
	defer catch(func(refusal *Refusal) { envelope = refusal.Envelope() })
	var names []string
	tools := map[string]tool{}
	for _, each := range h.manifest.Tools {
		if each.Audience == request.Audience {
			names, tools[each.Name] = append(names, each.Name), each
		}
	}
	tool, exists := tools[request.Tool]
	allowed := strings.Join(names, ", ")
	refuse(!exists, "TOOL_UNKNOWN", "Cannot call %s: no such tool, allowed: %s", quoted(request.Tool), allowed)
	refuse(request.UserID == nil, "USER_REQUIRED", "Cannot call a tool: ctx.userId is missing, every call needs a user")
	userID := *request.UserID
	isUser := userIDForm.MatchString(userID) && userID != "." && userID != ".." && len(userID) <= 128 && utf8.ValidString(userID)
	refuse(!isUser, "USER_INVALID", "Cannot call a tool: ctx.userId is %s, allowed: 1 to 128 bytes without "+
		`control characters, "/", "\", leading or trailing space, and other than "." and ".."`, quoted(userID))
	call := &call{tool: tool, folderName: folderName(userID), epochMs: time.Now().UnixMilli(), staged: map[place]change{}}
	call.ofCaller = cmp.Or(request.Context, context.Background())
	call.checkCaller()
	var input bytes.Buffer
	isJSON := utf8.Valid(request.Input) && json.Compact(&input, request.Input) == nil
	if size := input.Len(); !isJSON || size > inputBytesMax {
		found, most := fmt.Sprintf("%d bytes of JSON", size), fmt.Sprintf("at most %d bytes", inputBytesMax)
		if !isJSON {
			found, most = "not serialisable", "a JSON object"
		}
		message := fmt.Sprintf("Cannot call %s: input is %s, allowed: %s", tool.Name, found, most)
		panic(&Refusal{"INPUT_INVALID", message, []any{map[string]string{"field": "input", "value": found, "allowed": most}}, nil})
	}
	if request.EpochMs != nil {
		call.epochMs = *request.EpochMs
	}
	defer func() {
		if _ = call.lock.Close(); call.user != nil {
			_ = call.user.Close()
		}
	}()
	call.open(h.data, false)
	output := h.run(call, input.Bytes())
	call.checkCaller()
	if len(call.staged) > 0 {
		call.apply(h.data)
	}
	return output
}

type callKey struct{} // finds the call in a context, because host functions are bound once per compiled plugin

// run calls the tool on a new instance, so that nothing in memory is left from an earlier call.
func (h *Host) run(call *call, input []byte) json.RawMessage {
	name, deadline := call.tool.Name, time.Duration(h.manifest.DeadlineMs)*time.Millisecond
	limited, cancel := context.WithTimeout(context.WithValue(context.Background(), callKey{}, call), deadline)
	defer cancel()
	ctx, stop := context.WithCancel(limited)
	defer context.AfterFunc(call.ofCaller, stop)()
	instance, err := h.plugin.Instance(limited, extism.PluginInstanceConfig{})
	refuse(err != nil, "INTERNAL", "Cannot call %s: the engine cannot create an instance of the plugin", name)
	// Runs at the deadline or after the call. In config_get and log_* the SDK walks the list of blocks without the context; a guest
	// that has bent the list into a ring would keep it there for ever. It does not run when the caller cancels: before the guest
	// runs, the SDK would print that to standard output.
	context.AfterFunc(limited, func() { _ = instance.Close(context.Background()) })
	code, output, err := instance.CallWithContext(ctx, call.tool.Export, input)
	call.checkCaller()
	refuse(limited.Err() != nil, "DEADLINE_EXCEEDED", "Cannot finish %s: it ran for over %d ms", name, h.manifest.DeadlineMs)
	if call.final != nil {
		panic(call.final)
	}
	if err == nil {
		refuse(code != 0, "GUEST_TRAPPED", "Cannot finish %s: the plugin's code crashed", name)
		size, most := len(output), outputBytesMax
		refuse(size > most, "OUTPUT_TOO_LARGE", "Cannot finish %s: its answer is %d bytes, at most %d allowed", name, size, most)
		envelope, _ := decoded(output)
		_, isMessage := envelope["message"].(string)
		_, hasData := envelope["data"]
		isSuccess := len(envelope) == 3 && envelope["ok"] == true && isMessage && hasData
		refuse(!isSuccess, "OUTPUT_INVALID", "Cannot use the answer of %s: its output is not a success envelope", name)
		return output
	}
	envelope, isJSON := decoded([]byte(err.Error())) // the text that the guest gave to error_set; after a trap, the engine's message
	refuse(!isJSON, "GUEST_TRAPPED", "Cannot finish %s: the plugin's code crashed", name)
	failure, _ := envelope["error"].(map[string]any)
	reported, _ := failure["code"].(string)
	message, isMessage := failure["message"].(string)
	issues, hasIssues := failure["issues"]
	isFailure := len(envelope) == 2 && envelope["ok"] == false && isMessage && codeForm.MatchString(reported) &&
		(len(failure) == 2 || len(failure) == 3 && hasIssues)
	refuse(!isFailure, "OUTPUT_INVALID", "Cannot use the answer of %s: its error is not a failed envelope", name)
	isKnown := slices.Contains(guestCodes, reported) || slices.Contains(call.told, reported) ||
		slices.Contains(h.manifest.Errors, declared{reported})
	refuse(!isKnown, "OUTPUT_INVALID", "Cannot use the answer of %s: it reports %s, a code that it neither declares nor received", name, reported)
	panic(&Refusal{reported, message, issues, nil})
}

func bind(of capability) extism.HostFunction {
	serve := func(ctx context.Context, plugin *extism.CurrentPlugin, stack []uint64) {
		call := ctx.Value(callKey{}).(*call)
		size, _ := plugin.LengthWithContext(ctx, stack[0]) // 0 if the handle is not a block
		// Bounded, because a hostile guest can forge the length of a block.
		request, _ := plugin.Memory().Read(uint32(stack[0]), uint32(min(size, requestBytesMax)))
		reply := must(json.Marshal(call.answer(of, request)))
		block, _ := plugin.AllocWithContext(ctx, uint64(len(reply)))
		if block == 0 || !plugin.Memory().Write(uint32(block), reply) { // writing to 0 would overwrite the kernel's data
			full := &Refusal{"MEMORY_EXCEEDED", "Cannot finish the call: no block is left for a reply", nil, nil}
			call.final = cmp.Or(call.final, full)
			panic(full) // the guest traps
		}
		stack[0] = block
	}
	handle := []extism.ValueType{extism.ValueTypePTR}
	return extism.NewHostFunctionWithStack(of.name, serve, handle, handle)
}

// A call is the state of the capabilities during one call. Changes are staged, so that a failed call changes nothing. The user's
// files are reached only through an os.Root, which no path can leave. os.Root follows links that stay inside, so this file
// refuses links.
type call struct {
	tool       tool
	ofCaller   context.Context
	folderName string
	epochMs    int64
	requests   int
	told       []string // codes that the guest received
	final      *Refusal
	staged     map[place]change
	user       *os.Root // nil if the folder does not exist
	lock       *os.File // held while it is open
}

type place struct{ scope, path string }

// A change is a text, or a file moved from a path on disk (origin). bytes is -1 if the file is removed.
type change struct {
	text   []byte
	origin string
	bytes  int
}

// checkCaller ends the call if its caller no longer waits for it. Applying changes cannot be cancelled.
func (c *call) checkCaller() {
	refuse(c.ofCaller.Err() != nil, "CANCELLED", "Cannot call %s: the caller cancelled it", c.tool.Name)
}

func (c *call) answer(of capability, request []byte) (reply any) {
	defer catch(func(refusal *Refusal) {
		reply, c.told = refusal.Envelope(), append(c.told, refusal.Code)
		if c.final == nil && slices.Contains(finalCodes, refusal.Code) {
			c.final = refusal
		}
	})
	// The request is checked against the ABI and the grant before any file is touched.
	c.requests++
	isOver := c.requests > requestsMax
	refuse(isOver, denied, "Cannot call %s: this call has made %d requests, the maximum", of.name, requestsMax)
	refuse(!slices.Contains(c.tool.Rights, of.right), denied, `Cannot call %s: this call is not granted "%s"`, of.name, of.right)
	given, isJSON := decoded(request)
	refuse(!isJSON, denied, "Cannot call %s: the request is not JSON", of.name)
	keys, values := slices.Sorted(maps.Keys(given)), map[string]string{}
	isFit := given != nil && (slices.Equal(keys, of.keys) || of.right == "list" && slices.Equal(keys, []string{"scope"}))
	for key, value := range given {
		text, isText := value.(string)
		values[key], isFit = text, isFit && isText
	}
	refuse(!isFit, denied, "Cannot call %s: the request does not have the form of ABI version 1", of.name)
	at := place{values["scope"], values["path"]}
	isScope, scopes := keys == nil || slices.Contains(c.tool.Scopes, at.scope), strings.Join(c.tool.Scopes, `", "`)
	refuse(!isScope, denied, `Cannot use scope %s: this call is granted "%s"`, quoted(at.scope), scopes)
	refuse(slices.Contains(keys, "path") && !isPath(at.path), denied, badPath, quoted(at.path))
	isTrashed := isTrash(at.path) && (of.right == "write" || of.right == "trash")
	refuse(isTrashed, denied, "Cannot change %s: tools cannot change files in trash/", quoted(at.path))
	answer := of.perform(c, at, values["prefix"]+values["content"])
	answer["ok"] = true
	return answer
}

func (c *call) storeRead(at place, _ string) map[string]any {
	text := c.find(at).text
	if text == nil {
		return map[string]any{"content": nil}
	}
	if !utf8.Valid(text) {
		panic(&Refusal{"ENTRY_UNREADABLE", fmt.Sprintf("Cannot read %s: it is not UTF-8 text", quoted(at.path)), nil, readable(text)})
	}
	return map[string]any{"content": string(text)}
}

// readable is what can be read of bytes that are not UTF-8: each run of other bytes is one U+FFFD. UTF-16 that begins with a
// byte order mark is decoded.
func readable(text []byte) string {
	order := map[string]binary.ByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian}[string(text[:min(2, len(text))])]
	if order == nil {
		return replaced.ReplaceAllString(strings.ToValidUTF8(string(text), "\ufffd"), "\ufffd")
	}
	units := []uint16{}
	for at := 2; at+1 < len(text); at += 2 {
		units = append(units, order.Uint16(text[at:]))
	}
	if len(text)%2 == 1 {
		units = append(units, 0xfffd)
	}
	return replaced.ReplaceAllString(string(utf16.Decode(units)), "\ufffd")
}

var replaced = regexp.MustCompile("\ufffd+")

func (c *call) storeList(at place, prefix string) map[string]any {
	isBeginning := prefix == "" || isPath(strings.TrimSuffix(prefix, "/"))
	refuse(!isBeginning, denied, "Cannot list %s: it is not the beginning of a path", quoted(prefix))
	files := map[string]listed{}
	if hasFolder(c.user, at.scope, false) {
		c.walk(files, at.scope, "")
	}
	for staged, change := range c.staged {
		if staged.scope == at.scope {
			files[staged.path] = listed{bytes: change.bytes}
		}
	}
	entries := []any{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if file := files[path]; file.bytes >= 0 && strings.HasPrefix(path, prefix) && (isTrash(prefix) || !isTrash(path)) {
			entries = append(entries, map[string]any{"path": path, "bytes": file.bytes, "changedUs": file.changedUs})
		}
	}
	return map[string]any{"entries": entries}
}

func (c *call) storeWrite(at place, content string) map[string]any {
	c.find(at) // refuses a file that must not be replaced
	size, most := len(content), fileBytesMax
	refuse(size > most, "QUOTA_EXCEEDED", "Cannot write %s: it is %d bytes, at most %d allowed", quoted(at.path), size, most)
	c.staged[at] = change{[]byte(content), "", size}
	return map[string]any{}
}

func (c *call) storeTrash(at place, _ string) map[string]any {
	moved := c.find(at)
	refuse(moved.text == nil, denied, "Cannot trash %s: no such file", quoted(at.path))
	ending := path.Ext(at.path)
	stamp := strings.Replace(time.UnixMilli(c.epochMs).UTC().Format("20060102T150405.000Z"), ".", "", 1)
	base := strings.TrimSuffix(at.path, ending) + "." + stamp
	trashed := place{at.scope, "trash/" + base + ending}
	for number := 2; isPath(trashed.path) && c.find(trashed).text != nil; number++ {
		trashed.path = fmt.Sprintf("trash/%s-%d%s", base, number, ending)
	}
	refuse(!isPath(trashed.path), denied, badPath, quoted(trashed.path))
	c.staged[trashed], c.staged[at] = moved, change{bytes: -1}
	return map[string]any{"trashed": trashed.path}
}

func (c *call) clockNow(place, string) map[string]any { return map[string]any{"epochMs": c.epochMs} }

// find returns a file as this call sees it. Its text is nil if there is none.
func (c *call) find(at place) change {
	if staged, isStaged := c.staged[at]; isStaged && staged.origin == "" {
		return staged
	} else if isStaged {
		at.path = staged.origin
	}
	text := c.read(at)
	return change{text, at.path, len(text)}
}

// open opens the user's folder and locks it until the call ends. It is BUSY if another host holds the lock; the caller can retry.
func (c *call) open(data *os.Root, isMade bool) {
	folder := "users/" + c.folderName
	if !hasFolder(data, folder, isMade) {
		return
	}
	c.user = must(data.OpenRoot(folder))
	isSame := os.SameFile(must(data.Lstat(folder)), must(c.user.Stat(".")))
	refuse(!isSame, unsafeFiles, folderTaken) // a link was put in its place meanwhile
	if !slices.Contains(c.tool.Rights, "write") && !slices.Contains(c.tool.Rights, "trash") {
		return
	}
	hasFolder(c.user, ".memcell", true)
	status := found(c.user.Lstat(".memcell/lock"))
	refuse(status != nil && !status.Mode().IsRegular(), "STORAGE_FAILED", "Cannot use the user's folder: the disk refused")
	c.lock = must(c.user.OpenFile(".memcell/lock", os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK, 0o600))
	// This kind of lock belongs to the open file: closing another descriptor in this process does not release it.
	err := syscall.FcntlFlock(c.lock.Fd(), lockOfOpenFile, &syscall.Flock_t{Type: syscall.F_WRLCK})
	refuse(err == syscall.EAGAIN || err == syscall.EACCES, "BUSY", "Cannot use the user's folder: it is in use")
	check(err)
}

// hasFolder checks each part of a path, because os.Root follows links that stay inside.
func hasFolder(root *os.Root, folder string, isMade bool) bool {
	if folder == "." || !hasFolder(root, path.Dir(folder), isMade) {
		return folder == "." && root != nil
	}
	if isMade {
		check(root.Mkdir(folder, 0o700), os.ErrExist)
	}
	status := found(root.Lstat(folder))
	refuse(status != nil && !status.IsDir(), unsafeFiles, folderTaken)
	return status != nil
}

func (p place) name() string { return p.scope + "/" + p.path }

func (c *call) read(at place) []byte {
	if !hasFolder(c.user, path.Dir(at.name()), false) {
		return nil
	}
	status := found(c.user.Lstat(at.name()))
	if status == nil {
		return nil
	}
	shown, mode := quoted(at.path), status.Mode()
	refuse(mode.Type() == os.ModeSymlink, unsafeFiles, "Cannot use %s: a link is in its place", shown)
	refuse(!mode.IsRegular(), unsafeFiles, "Cannot use %s: it is not a regular file", shown)
	file := found(c.user.OpenFile(at.name(), os.O_RDONLY|syscall.O_NONBLOCK, 0)) // without O_NONBLOCK, opening a pipe would block
	defer file.Close()
	opened, _ := file.Stat()
	if !os.SameFile(status, opened) { // replaced by a host that does not hold the lock
		return c.read(at)
	}
	names, size := namesOf(opened), opened.Size() // a sparse file can claim any size
	refuse(names > 1, unsafeFiles, "Cannot use %s: it has %d names on the disk, only 1 is allowed", shown, names)
	refuse(size > fileBytesMax, unsafeFiles, "Cannot use %s: it is %d bytes, at most %d allowed", shown, size, fileBytesMax)
	return must(io.ReadAll(io.LimitReader(file, fileBytesMax)))
}

// A listed file. changedUs is 0 if this call has staged it.
type listed struct {
	bytes     int
	changedUs int64
}

// walk finds every file of a scope. It leaves out files that read would refuse, and files that vanish meanwhile.
func (c *call) walk(files map[string]listed, scope, prefix string) {
	folder := found(c.user.OpenFile(path.Join(scope, prefix), os.O_RDONLY|syscall.O_DIRECTORY, 0))
	// Only names: before Go 1.25.8, the details from ReadDir can be those of files outside the os.Root.
	names, err := folder.Readdirnames(-1)
	check(errors.Join(err, folder.Close()), os.ErrNotExist, os.ErrInvalid) // vanished, or never existed
	for _, name := range names {
		at := place{scope, prefix + name}
		status := found(c.user.Lstat(at.name()))
		if isThere := status != nil && isPath(at.path); isThere && status.IsDir() {
			c.walk(files, scope, at.path+"/")
		} else if isThere && status.Mode().IsRegular() && namesOf(status) == 1 && status.Size() <= fileBytesMax {
			changed := status.Sys().(*syscall.Stat_t).Ctim // not the time of the last write, which programs can set
			files[at.path] = listed{int(status.Size()), changed.Nano() / 1000}
		}
	}
}

// namesOf counts a file's hard links: another link can be another user's file.
func namesOf(status os.FileInfo) uint64 { return uint64(status.Sys().(*syscall.Stat_t).Nlink) }

// apply performs the moves, then the removals of files that were overwritten and then moved, then the writes.
func (c *call) apply(data *os.Root) {
	for at, change := range c.staged {
		for folder := path.Dir(at.path); change.bytes >= 0 && folder != "."; folder = path.Dir(folder) {
			above, isStaged := c.staged[place{at.scope, folder}]
			refuse(isStaged && above.bytes >= 0, unsafeFiles, folderTaken) // this call itself would put a file in a folder's place
		}
	}
	if c.lock == nil { // the user had no folder when this call began
		c.open(data, true)
		isTaken := slices.ContainsFunc(c.tool.Scopes, func(scope string) bool { return hasFolder(c.user, scope, false) })
		refuse(isTaken, "BUSY", "Cannot use the user's folder: it is in use")
	}
	texts := map[string]place{}
	for at, change := range c.staged { // a full disk fails here, before anything has changed
		if name := fmt.Sprintf(".memcell/new%d", len(texts)); change.origin == "" && change.bytes >= 0 {
			check(c.user.Remove(name), os.ErrNotExist) // left by a killed host
			file := must(c.user.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600))
			defer c.user.Remove(name) // fails if it was renamed, which is fine
			_, err := file.Write(change.text)
			check(errors.Join(err, file.Sync(), file.Close()))
			texts[name] = at
		}
	}
	for at, change := range c.staged {
		if change.origin != "" {
			c.rename(place{at.scope, change.origin}.name(), at)
		}
	}
	for at, change := range c.staged {
		if change.bytes < 0 {
			check(c.user.Remove(at.name()), os.ErrNotExist)
		}
	}
	for name, at := range texts { // rename is atomic: a crash leaves the old file or the new one
		c.rename(name, at)
	}
}

func (c *call) rename(from string, to place) {
	parent := path.Dir(to.name())
	hasFolder(c.user, parent, true)
	check(c.user.Rename(from, to.name()))
	folder := must(c.user.OpenFile(parent, os.O_RDONLY|syscall.O_DIRECTORY, 0))
	check(errors.Join(folder.Sync(), folder.Close()))
}

// folderName is unique for each user id, on every kind of disk, and never a path.
func folderName(userID string) string {
	odd := `[^A-Za-z0-9._@-]|^\.|\.$`
	if deviceName.MatchString(userID) {
		odd += `|^.`
	}
	name := regexp.MustCompile(odd).ReplaceAllStringFunc(userID, func(found string) string {
		return "%" + strings.ReplaceAll(fmt.Sprintf("% X", found), " ", "%")
	})
	if mark := fmt.Sprintf("%%~%x", sha256.Sum256([]byte(userID))); len(name) > 191 {
		name = name[:191-len(mark)] + mark
	}
	return name
}

func isPath(path string) bool { return len(path) <= 255 && scopePath.MatchString(path) }

// isTrash ignores case, because some disks do not distinguish TRASH from trash.
func isTrash(path string) bool { return strings.EqualFold(strings.SplitN(path, "/", 2)[0], "trash") }

// quoted escapes an untrusted text, so that it cannot end the quotation or hide or reorder the text around it.
func quoted(text string) string {
	if chars := []rune(text); len(chars) > 60 {
		text = string(chars[:60]) + "…"
	}
	text = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text)
	return `"` + hiddenChar.ReplaceAllStringFunc(text, func(char string) string {
		code := fmt.Sprintf("%04x", []rune(char)[0])
		if len(code) > 4 {
			code = "{" + code + "}"
		}
		return `\u` + code
	}) + `"`
}

// decoded returns a JSON object, or nil for other JSON. It uses a map, because encoding/json matches struct fields in any case.
func decoded(text []byte) (object map[string]any, isJSON bool) {
	if isJSON = utf8.Valid(text) && json.Valid(text); isJSON {
		_ = json.Unmarshal(text, &object)
	}
	return object, isJSON
}
