// Hosts a memcell plugin under the Extism Go SDK: the capability ABI, version 1, over a folder for each user. Linux only.
//
// A template to copy. A plugin has no network, no WASI, no environment, and no file but those of the scopes that its manifest
// names for the tool, in the folder of the user on whose behalf the tool is called.
//
// What it leaves to you: quotas of a user's folder and of a call, an audit log, a queue, and a journal: a power cut between two
// files of one call leaves the first. It runs a file that was judged before (`memcell audit`): pin it by its SHA-256.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"golang.org/x/sys/unix"
)

const (
	inputBytesMax, outputBytesMax = 512 << 10, 512 << 10
	fileBytesMax                  = 2 << 20
	requestsMax                   = 10_000
	kernelPagesMax                = 1024 // requests, replies and answers lie in the kernel's memory, of 64 KiB a page
)

// Each capability: the right it needs, the keys of its request, and what it does.
var capabilities = []capability{
	{"store_read", "read", []string{"path", "scope"}, (*call).read},
	{"store_list", "list", []string{"prefix", "scope"}, (*call).list},
	{"store_write", "write", []string{"content", "path", "scope"}, (*call).write},
	{"store_trash", "trash", []string{"path", "scope"}, (*call).trash},
	{"clock_now", "clock", nil, (*call).clock},
}

type capability struct {
	name, right string
	keys        []string
	perform     func(*call, map[string]string) map[string]any
}

var (
	scopePath  = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)
	codeForm   = regexp.MustCompile(`^[A-Z_]{1,64}$`)
	deviceName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)
	// guestCodes are what a guest may report without having been told it.
	guestCodes = strings.Fields(`INPUT_INVALID ENTRY_NOT_FOUND ENTRY_UNREADABLE NAME_RESERVED NAME_CONFLICT
		QUOTA_EXCEEDED CAPABILITY_DENIED GUEST_TRAPPED FUEL_EXHAUSTED MEMORY_EXCEEDED`)
	// finalCodes decide the call, whatever the guest says afterwards.
	finalCodes = []string{"CAPABILITY_DENIED", "STORAGE_FULL", "STORAGE_FAILED"}
)

// A Refusal is an error of the contract: a code, and words for a model that tell nothing of the machine. It travels as a panic, and
// never out of this file.
type Refusal struct {
	Code    string              `json:"code"`
	Message string              `json:"message"`
	Issues  []map[string]string `json:"issues,omitempty"`
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

func (r *Refusal) Envelope() json.RawMessage {
	return must(json.Marshal(map[string]any{"ok": false, "error": r}))
}

func refuse(isRefused bool, code, format string, values ...any) {
	if isRefused {
		panic(&Refusal{code, fmt.Sprintf(format, values...), nil})
	}
}

func deny(isDenied bool, format string, values ...any) {
	refuse(isDenied, "CAPABILITY_DENIED", format, values...)
}

// check tells nothing of an error of the disk, but that there was one.
func check(err error, expected ...error) {
	if err != nil && !slices.ContainsFunc(expected, func(each error) bool { return errors.Is(err, each) }) {
		isFull := errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
		refuse(isFull, "STORAGE_FULL", "Cannot use the user's folder: the disk is full")
		refuse(!isFull, "STORAGE_FAILED", "Cannot use the user's folder: the disk refused")
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

// caught is for what recover returns.
func caught(fault any) *Refusal {
	refusal, isRefusal := fault.(*Refusal)
	if fault != nil && !isRefusal {
		panic(fault)
	}
	return refusal
}

// Options pin the plugin, and lower what its manifest allows. What is not set is not pinned, or the manifest's.
type Options struct {
	SHA256     string // in lower-case hexadecimal digits; a host of plugins that others have written must set it
	FuelPolls  int
	DeadlineMs int
}

// A Host is a plugin, compiled once, and the folder of its users' data. Of two calls at once that write for one user, one is BUSY.
type Host struct {
	plugin   *extism.CompiledPlugin
	tools    []*tool
	data     *os.File
	deadline time.Duration
}

type tool struct {
	Name, Export, Audience string
	Scopes, Rights         []string
}

// Open returns a *Refusal when the file is not the pinned one, or no plugin.
func Open(pluginPath, dataDir string, options Options) (host *Host, err error) {
	defer func() {
		if refusal := caught(recover()); refusal != nil {
			err = refusal
		}
	}()
	refused := func(isRefused bool, reason string) {
		refuse(isRefused, "PLUGIN_REFUSED", "Cannot load the plugin: %s", reason)
	}
	wasm, err := os.ReadFile(pluginPath)
	refused(err != nil, "the file cannot be read")
	pin := fmt.Sprintf("%x", sha256.Sum256(wasm))
	refused(options.SHA256 != "" && options.SHA256 != pin, "it is another file than the pinned one")
	engine := wazero.NewRuntimeConfig().WithCompilationCache(wazero.NewCompilationCache()).WithCustomSections(true).
		WithCloseOnContextDone(true).WithMemoryLimitPages(kernelPagesMax) // the guest's own maximum holds besides
	ctx := context.Background()
	module, err := wazero.NewRuntimeWithConfig(ctx, engine).CompileModule(ctx, wasm)
	refused(err != nil, "it cannot be compiled")
	var sections [][]byte
	for _, section := range module.CustomSections() {
		if section.Name() == "memcell:manifest" {
			sections = append(sections, section.Data())
		}
	}
	var manifest struct {
		ABI, DeadlineMs int
		Tools           []*tool
	}
	isOne := len(sections) == 1 && json.Unmarshal(sections[0], &manifest) == nil && manifest.ABI == 1
	refused(!isOne, "it has not one manifest of ABI version 1")
	hosted := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}, Config: map[string]string{}}
	if options.FuelPolls > 0 {
		hosted.Config["memcell.fuelPolls"] = strconv.Itoa(options.FuelPolls)
	}
	if options.DeadlineMs > 0 {
		manifest.DeadlineMs = min(manifest.DeadlineMs, options.DeadlineMs)
	}
	var functions []extism.HostFunction
	for _, each := range capabilities {
		functions = append(functions, bind(each))
	}
	plugin, err := extism.NewCompiledPlugin(ctx, hosted, extism.PluginConfig{RuntimeConfig: engine, EnableWasi: false}, functions)
	refused(err != nil, "it cannot be compiled")
	linked, err := plugin.Instance(ctx, extism.PluginInstanceConfig{})
	refused(err != nil, "it wants more than a plugin gets")
	check(errors.Join(linked.Close(ctx), os.MkdirAll(dataDir, 0o700)))
	deadline := time.Duration(manifest.DeadlineMs) * time.Millisecond
	return &Host{plugin, manifest.Tools, must(os.Open(dataDir)), deadline}, nil
}

// A Request is one call of a tool for one user.
type Request struct {
	Tool     string
	Audience string  // "model", or "host" for a tool that is not for models
	UserID   *string // from your own authentication, never from a model; nil is nobody, and refused
	Input    json.RawMessage
	EpochMs  *int64 // what the plugin takes for the time; nil is the machine's
}

// Call returns the call's envelope: {"ok":true,"message","data"} or {"ok":false,"error":{"code","message"}}.
func (h *Host) Call(request Request) (envelope json.RawMessage) {
	defer func() {
		if refusal := caught(recover()); refusal != nil {
			envelope = refusal.Envelope()
		}
	}()
	var names []string
	tools := map[string]*tool{}
	for _, each := range h.tools {
		if each.Audience == request.Audience {
			names, tools[each.Name] = append(names, each.Name), each
		}
	}
	tool, allowed := tools[request.Tool], strings.Join(names, ", ")
	refuse(tool == nil, "TOOL_UNKNOWN", "Cannot call %s: no such tool, allowed: %s", quoted(request.Tool), allowed)
	refuse(request.UserID == nil, "USER_REQUIRED", "Cannot call a tool: ctx.userId is missing, every call needs a user")
	userID := *request.UserID
	refuse(!isUserID(userID), "USER_INVALID", "Cannot call a tool: ctx.userId is %s, allowed: 1 to 128 bytes without "+
		`control characters, "/", "\", leading or trailing space, and other than "." and ".."`, quoted(userID))
	if size := len(request.Input); size > inputBytesMax {
		found, most := fmt.Sprintf("%d bytes of JSON", size), fmt.Sprintf("at most %d bytes", inputBytesMax)
		message := fmt.Sprintf("Cannot call %s: input is %s, allowed: %s", tool.Name, found, most)
		panic(&Refusal{"INPUT_INVALID", message, []map[string]string{{"field": "input", "value": found, "allowed": most}}})
	}
	files := &userFiles{folderName: folderName(userID)}
	defer files.closeAfter(0)
	files.open(h.data, false, slices.Contains(tool.Rights, "write") || slices.Contains(tool.Rights, "trash"))
	call := &call{tool: tool, files: files, epochMs: time.Now().UnixMilli(), staged: map[place]change{}, told: map[string]bool{}}
	if request.EpochMs != nil {
		call.epochMs = *request.EpochMs
	}
	envelope, isSuccess := h.run(call, request.Input)
	if isSuccess && len(call.staged) > 0 {
		files.apply(h.data, call.staged)
	}
	return envelope
}

// callKey finds the call in the context: host functions belong to the compiled plugin, before there is any call.
type callKey struct{}

// run calls the tool on an instance of its own: nothing that a former call has left in memory is there.
func (h *Host) run(call *call, input []byte) (envelope json.RawMessage, isSuccess bool) {
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), callKey{}, call), h.deadline)
	defer cancel()
	code, output := uint32(0), []byte(nil)
	instance, err := h.plugin.Instance(ctx, extism.PluginInstanceConfig{})
	if err == nil {
		// At the deadline, or after the call. Where the SDK walks the list of blocks without the context (config_get, log_*), a guest
		// that has bent the list into a ring would keep it there for ever.
		context.AfterFunc(ctx, func() { _ = instance.Close(context.Background()) })
		code, output, err = instance.CallWithContext(ctx, call.tool.Export, input)
	}
	name := call.tool.Name
	refuse(ctx.Err() != nil, "DEADLINE_EXCEEDED", "Cannot finish %s: it ran for over %d ms", name, h.deadline.Milliseconds())
	if call.final != nil {
		panic(call.final)
	}
	if err != nil { // what the guest has given to error_set; of a trap, the engine's words
		return judgedError(name, []byte(err.Error()), call.told), false
	}
	refuse(code != 0, "GUEST_TRAPPED", "Cannot finish %s: the plugin's code crashed", name)
	return judgedOutput(name, output), true
}

func bind(of capability) extism.HostFunction {
	serve := func(ctx context.Context, plugin *extism.CurrentPlugin, stack []uint64) {
		call := ctx.Value(callKey{}).(*call)
		size, _ := plugin.LengthWithContext(ctx, stack[0]) // 0 for what is no block
		request, _ := plugin.Memory().Read(uint32(stack[0]), uint32(size))
		reply := must(json.Marshal(call.answer(of, request)))
		block, _ := plugin.AllocWithContext(ctx, uint64(len(reply)))
		if block == 0 || !plugin.Memory().Write(uint32(block), reply) { // writing to 0 would write over the kernel's own data
			call.final = &Refusal{"MEMORY_EXCEEDED", "Cannot finish the call: no block is left for a reply", nil}
			panic(call.final) // a trap, for the guest
		}
		stack[0] = block
	}
	handle := []extism.ValueType{extism.ValueTypePTR}
	return extism.NewHostFunctionWithStack(of.name, serve, handle, handle)
}

// A call is what the capabilities work on. Changes are staged, so that a failed call leaves no trace.
type call struct {
	tool     *tool
	files    *userFiles
	epochMs  int64
	staged   map[place]change
	requests int
	told     map[string]bool
	final    *Refusal
}

type place struct{ scope, path string }

// A change is a text, or a file that was moved there from a path on the disk. It is neither where no file is left.
type change struct {
	text   []byte
	origin string
	size   int
}

func (c *call) answer(of capability, request []byte) (reply any) {
	defer c.files.closeAfter(len(c.files.opened))
	defer func() {
		if refusal := caught(recover()); refusal != nil {
			reply, c.told[refusal.Code] = refusal.Envelope(), true
			if c.final == nil && slices.Contains(finalCodes, refusal.Code) {
				c.final = refusal
			}
		}
	}()
	answer := of.perform(c, c.checked(of, request))
	answer["ok"] = true
	return answer
}

// checked holds a request against the ABI and the grant before any file is looked at.
func (c *call) checked(of capability, text []byte) map[string]string {
	c.requests++
	deny(c.requests > requestsMax, "Cannot call %s: this call has asked %d times, no more is allowed", of.name, requestsMax)
	deny(!slices.Contains(c.tool.Rights, of.right), `Cannot call %s: this call is not granted "%s"`, of.name, of.right)
	given, isJSON := decoded(text)
	deny(!isJSON, "Cannot call %s: the request is not JSON", of.name)
	keys, request := slices.Sorted(maps.Keys(given)), map[string]string{}
	isFit := slices.Equal(keys, of.keys) || of.right == "list" && slices.Equal(keys, []string{"scope"})
	for key, value := range given {
		text, isText := value.(string)
		request[key], isFit = text, isFit && isText
	}
	deny(given == nil || !isFit, "Cannot call %s: the request has not the form that ABI version 1 gives it", of.name)
	scope, path := request["scope"], request["path"]
	isGranted, granted := keys == nil || slices.Contains(c.tool.Scopes, scope), strings.Join(c.tool.Scopes, `", "`)
	deny(!isGranted, `Cannot use scope %s: this call is granted "%s"`, quoted(scope), granted)
	if slices.Contains(keys, "path") {
		checkPath(path)
	}
	isChange := of.right == "write" || of.right == "trash"
	deny(isChange && isTrash(path), "Cannot change %s: what lies in trash/ is not a tool's to change", quoted(path))
	return request
}

func (c *call) read(request map[string]string) map[string]any {
	_, content := c.find(place{request["scope"], request["path"]})
	if content == nil {
		return map[string]any{"content": nil}
	}
	refuse(!utf8.Valid(content), "ENTRY_UNREADABLE", "Cannot read %s: it is not UTF-8 text", quoted(request["path"]))
	return map[string]any{"content": string(content)}
}

func (c *call) list(request map[string]string) map[string]any {
	scope, prefix := request["scope"], request["prefix"]
	isBeginning := prefix == "" || isPath(strings.TrimSuffix(prefix, "/"))
	deny(!isBeginning, "Cannot list %s: it is not the beginning of a path", quoted(prefix))
	sizes := map[string]int{}
	c.files.sizes(c.files.enter(c.files.user, scope, false), "", sizes)
	for at, change := range c.staged {
		if at.scope == scope {
			sizes[at.path] = change.size
		}
		if at.scope == scope && change.text == nil && change.origin == "" {
			delete(sizes, at.path)
		}
	}
	entries := []any{}
	for _, path := range slices.Sorted(maps.Keys(sizes)) {
		if strings.HasPrefix(path, prefix) && (isTrash(prefix) || !isTrash(path)) {
			entries = append(entries, map[string]any{"path": path, "bytes": sizes[path]})
		}
	}
	return map[string]any{"entries": entries}
}

func (c *call) write(request map[string]string) map[string]any {
	at, text := place{request["scope"], request["path"]}, []byte(request["content"])
	c.find(at) // refuses what must not be replaced
	size, path := len(text), quoted(at.path)
	refuse(size > fileBytesMax, "QUOTA_EXCEEDED", "Cannot write %s: it is %d bytes, at most %d allowed", path, size, fileBytesMax)
	c.staged[at] = change{text, "", size}
	return map[string]any{}
}

func (c *call) trash(request map[string]string) map[string]any {
	at := place{request["scope"], request["path"]}
	found, content := c.find(at)
	deny(content == nil, "Cannot trash %s: no such file", quoted(at.path))
	base, ending := at.path, ""
	if dot := strings.LastIndexByte(base, '.'); dot > strings.LastIndexByte(base, '/')+1 {
		base, ending = base[:dot], base[dot:]
	}
	base += "." + strings.Replace(time.UnixMilli(c.epochMs).UTC().Format("20060102T150405.000Z"), ".", "", 1)
	trashed := place{at.scope, "trash/" + base + ending}
	checkPath(trashed.path)
	for number := 2; ; number++ {
		if _, taken := c.find(trashed); taken == nil {
			break
		}
		trashed.path = fmt.Sprintf("trash/%s-%d%s", base, number, ending)
	}
	c.staged[trashed], c.staged[at] = change{found.text, found.origin, len(content)}, change{}
	return map[string]any{"trashed": trashed.path}
}

func (c *call) clock(map[string]string) map[string]any { return map[string]any{"epochMs": c.epochMs} }

// find is a file as this call sees it; its content is nil when there is none.
func (c *call) find(at place) (found change, content []byte) {
	found, isStaged := c.staged[at]
	if !isStaged {
		found.origin = at.path
	}
	if found.origin == "" {
		return found, found.text
	}
	return found, c.files.read(at.scope, found.origin)
}

// userFiles are one user's during one call, reached through open folders only: no path is joined, and no link followed.
type userFiles struct {
	folderName string
	opened     []*os.File
	user, own  *os.File // nil while there is no such folder; while own is open, its lock is held
}

func (f *userFiles) open(data *os.File, isMade, mayChange bool) {
	f.user = f.enter(f.enter(data, "users", isMade), f.folderName, isMade)
	if f.user == nil || !mayChange {
		return
	}
	// Keeps every other host out until the call is over, or is BUSY: the caller may come back. Such a lock belongs to the open file,
	// so that no other close in this process gives it back.
	f.own = f.enter(f.user, ".memcell", true)
	file := must(f.openAt(f.own, "lock", unix.O_RDWR|unix.O_CREAT|unix.O_NONBLOCK))
	err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	refuse(err == unix.EAGAIN || err == unix.EACCES, "BUSY", "Cannot use the user's folder: it is in use")
	check(err)
}

func (f *userFiles) closeAfter(count int) {
	for _, file := range f.opened[count:] {
		_ = file.Close()
	}
	f.opened = f.opened[:count]
}

func (f *userFiles) openAt(folder *os.File, name string, flags int) (*os.File, error) {
	descriptor, err := unix.Openat(int(folder.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(descriptor), name)
	f.opened = append(f.opened, file)
	return file, nil
}

// enter opens a folder of another one, and is nil when there is none.
func (f *userFiles) enter(parent *os.File, name string, isMade bool) *os.File {
	if parent == nil {
		return nil
	}
	if isMade {
		check(unix.Mkdirat(int(parent.Fd()), name, 0o700), unix.EEXIST)
	}
	folder, err := f.openAt(parent, name, unix.O_RDONLY|unix.O_DIRECTORY)
	refuse(err == unix.ENOTDIR, "STORAGE_UNSAFE", "Cannot open the user's folder: something else lies in a folder's place")
	check(err, unix.ENOENT)
	return folder
}

// parent is the folder that a file lies in, and its name there.
func (f *userFiles) parent(scope, path string, isMade bool) (folder *os.File, name string) {
	folder, name = f.user, scope
	for _, next := range strings.Split(path, "/") {
		folder, name = f.enter(folder, name, isMade), next
	}
	return folder, name
}

func (f *userFiles) read(scope, path string) []byte {
	folder, name := f.parent(scope, path, false)
	if folder == nil {
		return nil
	}
	file, err := f.openAt(folder, name, unix.O_RDONLY|unix.O_NONBLOCK) // opening a pipe would wait for who writes into it
	if err == unix.ENOENT {
		return nil
	}
	reason := map[error]string{unix.ELOOP: "a link is in its place", unix.ENXIO: "it is not a regular file"}[err]
	if reason == "" {
		check(err)
		var status unix.Stat_t
		check(unix.Fstat(int(file.Fd()), &status))
		reason = unfit(status)
	}
	refuse(reason != "", "STORAGE_UNSAFE", "Cannot use %s: %s", quoted(path), reason)
	return must(io.ReadAll(io.LimitReader(file, fileBytesMax)))
}

// sizes finds the bytes of every file of a folder, without what could not be read.
func (f *userFiles) sizes(folder *os.File, prefix string, found map[string]int) {
	if folder == nil {
		return
	}
	for _, name := range must(folder.Readdirnames(-1)) {
		var status unix.Stat_t
		err := unix.Fstatat(int(folder.Fd()), name, &status, unix.AT_SYMLINK_NOFOLLOW)
		if path := prefix + name; err != nil || !isPath(path) {
			continue
		} else if status.Mode&unix.S_IFMT == unix.S_IFDIR {
			f.sizes(f.enter(folder, name, false), path+"/", found)
		} else if unfit(status) == "" {
			found[path] = int(status.Size)
		}
	}
}

// apply makes the moves, then the removals of what was written over and then moved away, then the writes.
func (f *userFiles) apply(data *os.File, staged map[place]change) {
	if f.own == nil { // nobody had ever written when this call began
		f.open(data, true, true)
		isAlone := slices.Equal(must(f.user.Readdirnames(-1)), []string{".memcell"})
		refuse(!isAlone, "BUSY", "Cannot use the user's folder: it is in use") // somebody else was first
	}
	for at, change := range staged {
		if change.origin != "" {
			folder, name := f.parent(at.scope, change.origin, false)
			f.rename(folder, name, at)
		}
	}
	for at, change := range staged {
		if folder, name := f.parent(at.scope, at.path, false); folder != nil && change.text == nil && change.origin == "" {
			check(unix.Unlinkat(int(folder.Fd()), name, 0), unix.ENOENT)
		}
	}
	for at, change := range staged {
		if change.text != nil {
			check(unix.Unlinkat(int(f.own.Fd()), "new", 0), unix.ENOENT) // of a host that was killed
			file := must(f.openAt(f.own, "new", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL))
			must(file.Write(change.text))
			check(file.Sync())
			f.rename(f.own, "new", at) // a crash leaves the old file or the new one, whole
		}
	}
}

func (f *userFiles) rename(from *os.File, name string, to place) {
	folder, target := f.parent(to.scope, to.path, true)
	check(unix.Renameat(int(from.Fd()), name, int(folder.Fd()), target))
	check(folder.Sync())
}

// unfit is why a file is not used: a second name may be another user's, and a giant may be sparse.
func unfit(status unix.Stat_t) string {
	switch kind := status.Mode & unix.S_IFMT; {
	case kind == unix.S_IFLNK:
		return "a link is in its place"
	case kind != unix.S_IFREG:
		return "it is not a regular file"
	case status.Nlink != 1:
		return fmt.Sprintf("it has %d names on the disk, only 1 is allowed", status.Nlink)
	case status.Size > fileBytesMax:
		return fmt.Sprintf("it is %d bytes, at most %d allowed", status.Size, fileBytesMax)
	}
	return ""
}

// folderName is another one for each user id, on every kind of disk, and never a path.
func folderName(userID string) string {
	odd := `[^A-Za-z0-9._@-]|^\.|\.$`
	if deviceName.MatchString(userID) {
		odd += `|^.`
	}
	name := regexp.MustCompile(odd).ReplaceAllStringFunc(userID, func(found string) string {
		return "%" + strings.ReplaceAll(fmt.Sprintf("% X", found), " ", "%")
	})
	if len(name) <= 191 {
		return name
	}
	mark := fmt.Sprintf("%%~%x", sha256.Sum256([]byte(userID)))
	return name[:191-len(mark)] + mark
}

func isPath(path string) bool { return len(path) <= 255 && scopePath.MatchString(path) }

func checkPath(path string) {
	deny(!isPath(path), `Cannot use path %s: allowed are relative paths inside the scope, without "." and ".."`, quoted(path))
}

// isTrash holds in any case: some disks do not tell TRASH from trash.
func isTrash(path string) bool { return strings.EqualFold(strings.SplitN(path, "/", 2)[0], "trash") }

func isUserID(id string) bool {
	isOdd := func(char rune) bool { return char == '/' || char == '\\' || unicode.Is(unicode.Cc, char) }
	isSpace := func(char rune) bool { return unicode.IsSpace(char) || char == '\uFEFF' }
	isNamed := id != "" && id != "." && id != ".." && id == strings.TrimFunc(id, isSpace)
	return isNamed && len(id) <= 128 && utf8.ValidString(id) && !strings.ContainsFunc(id, isOdd)
}

// quoted shows a text that somebody else has chosen, so that it can neither end the quotation nor hide or turn what is around.
func quoted(text string) string {
	shown := `"`
	for at, char := range []rune(text) {
		switch isHidden := unicode.In(char, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp); {
		case at == 60:
			return shown + `…"`
		case char == '\n':
			shown += `\n`
		case char == '"' || char == '\\':
			shown += `\` + string(char)
		case isHidden && char > 0xFFFF:
			shown += fmt.Sprintf(`\u{%x}`, char)
		case isHidden:
			shown += fmt.Sprintf(`\u%04x`, char)
		default:
			shown += string(char)
		}
	}
	return shown + `"`
}

func judgedOutput(name string, output []byte) json.RawMessage {
	isLarge, most := len(output) > outputBytesMax, outputBytesMax
	refuse(isLarge, "OUTPUT_TOO_LARGE", "Cannot finish %s: its answer is %d bytes, at most %d allowed", name, len(output), most)
	envelope, _ := decoded(output)
	_, isMessage := envelope["message"].(string)
	_, hasData := envelope["data"]
	isSuccess := len(envelope) == 3 && envelope["ok"] == true && isMessage && hasData
	refuse(!isSuccess, "OUTPUT_INVALID", "Cannot use the answer of %s: its output is not a success envelope", name)
	return output
}

func judgedError(name string, text []byte, told map[string]bool) json.RawMessage {
	envelope, isJSON := decoded(text)
	refuse(!isJSON, "GUEST_TRAPPED", "Cannot finish %s: the plugin's code crashed", name)
	failure, _ := envelope["error"].(map[string]any)
	code, _ := failure["code"].(string)
	_, isMessage := failure["message"].(string)
	_, hasIssues := failure["issues"]
	isFailure := len(envelope) == 2 && envelope["ok"] == false && isMessage && codeForm.MatchString(code) &&
		(len(failure) == 2 || len(failure) == 3 && hasIssues)
	refuse(!isFailure, "OUTPUT_INVALID", "Cannot use the answer of %s: its error is not a failed envelope", name)
	isKnown := told[code] || slices.Contains(guestCodes, code)
	refuse(!isKnown, "OUTPUT_INVALID", "Cannot use the answer of %s: it reports %s, which nobody told it", name, code)
	return text
}

// decoded is a JSON object, and nil for other JSON. A map, because encoding/json finds the fields of a struct in any case.
func decoded(text []byte) (object map[string]any, isJSON bool) {
	if isJSON = utf8.Valid(text) && json.Valid(text); isJSON {
		_ = json.Unmarshal(text, &object)
	}
	return object, isJSON
}
