package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	grantedScope = "memory"
	pathCharsMax = 255
	epochMs      = 1_700_000_000_000 // stands still, so that every host writes the same times
)

// call is what the capabilities of one tool call work on. Writes are staged, so that a failed call leaves no trace.
type call struct {
	files  map[string]string
	staged map[string]*string // nil: the call has moved the file away
	denial reply              // the first one
}

type (
	request map[string]string
	reply   map[string]any
)

// capabilities of ABI version 1, with the fields of their requests; all but prefix are required.
var capabilities = map[string]struct {
	fields  []string
	perform func(*call, request) reply
}{
	"store_read":  {[]string{"scope", "path"}, (*call).storeRead},
	"store_list":  {[]string{"scope", "prefix"}, (*call).storeList},
	"store_write": {[]string{"scope", "path", "content"}, (*call).storeWrite},
	"store_trash": {[]string{"scope", "path"}, (*call).storeTrash},
	"clock_now":   {nil, (*call).clockNow},
}

// answer checks a request against the ABI and the grant before a capability looks at any file.
func (c *call) answer(name string, text []byte) reply {
	// A map, because the fields of a struct would match keys in any case; pointers, because null is no text.
	var given map[string]*string
	if json.Unmarshal(text, &given) != nil || given == nil {
		return c.denied("Cannot call %s: the request is no JSON object of texts", name)
	}
	wanted := request{}
	for _, field := range capabilities[name].fields {
		value, isGiven := given[field]
		if value == nil && (isGiven || field != "prefix") {
			return c.denied("Cannot call %s: the request has no %s", name, field)
		}
		if value != nil {
			wanted[field] = *value
		}
		delete(given, field)
	}
	if len(given) > 0 {
		return c.denied("Cannot call %s: the request has unknown fields", name)
	}
	if scope, isGiven := wanted["scope"]; isGiven && scope != grantedScope {
		return c.denied("Cannot use scope %.60q: this call is granted %q", scope, grantedScope)
	}
	if path, isGiven := wanted["path"]; isGiven && !isScopePath(path) {
		return c.denied("Cannot use path %.60q: allowed are relative paths inside the scope", path)
	}
	// encoding/json turns half of a surrogate pair into U+FFFD without a word; what is stored would not be what was sent.
	if strings.ContainsRune(wanted["content"], '\uFFFD') && !wholeSurrogates.Match(text) {
		return c.denied("Cannot write %q: its text holds a lone surrogate", wanted["path"])
	}
	return capabilities[name].perform(c, wanted)
}

func (c *call) storeRead(wanted request) reply {
	return reply{"ok": true, "content": c.contentAt(wanted["path"])}
}

// storeList lists what lies in trash/ only for a prefix that begins there.
func (c *call) storeList(wanted request) reply {
	prefix := wanted["prefix"]
	if prefix != "" && !isScopePath(strings.TrimSuffix(prefix, "/")) {
		return c.denied("Cannot list %.60q: it is not the beginning of a path", prefix)
	}
	type entry struct {
		Path  string `json:"path"`
		Bytes int    `json:"bytes"`
	}
	entries := []entry{}
	add := func(path string, content string) {
		if strings.HasPrefix(path, prefix) && (!isTrashPath(path) || isTrashPath(prefix)) {
			entries = append(entries, entry{path, len(content)})
		}
	}
	for path, content := range c.files {
		if _, isStaged := c.staged[path]; !isStaged {
			add(path, content)
		}
	}
	for path, content := range c.staged {
		if content != nil {
			add(path, *content)
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.Path, b.Path) })
	return reply{"ok": true, "entries": entries}
}

func (c *call) storeWrite(wanted request) reply {
	path, content := wanted["path"], wanted["content"]
	if isTrashPath(path) {
		return c.denied("Cannot change %q: what lies in trash/ is not a tool's to change", path)
	}
	c.staged[path] = &content
	return reply{"ok": true}
}

// storeTrash stages a move to trash/<base>.<UTC stamp><ending>, with a number before the ending while that is taken.
func (c *call) storeTrash(wanted request) reply {
	path := wanted["path"]
	content := c.contentAt(path)
	if isTrashPath(path) || content == nil {
		return c.denied("Cannot trash %q: no such file outside trash/", path)
	}
	base, ending := path, ""
	if dot := strings.LastIndex(path, "."); dot > strings.LastIndex(path, "/")+1 {
		base, ending = path[:dot], path[dot:]
	}
	stamp := strings.Replace(time.UnixMilli(epochMs).UTC().Format("20060102T150405.000Z"), ".", "", 1)
	trashed := "trash/" + base + "." + stamp + ending
	for count := 2; c.contentAt(trashed) != nil; count++ {
		trashed = fmt.Sprintf("trash/%s.%s-%d%s", base, stamp, count, ending)
	}
	c.staged[path], c.staged[trashed] = nil, content
	return reply{"ok": true, "trashed": trashed}
}

func (c *call) clockNow(request) reply {
	return reply{"ok": true, "epochMs": epochMs}
}

// denied refuses a request in the reply, never by a panic: that would trap the guest in the middle of its call.
func (c *call) denied(format string, values ...any) reply {
	failure := map[string]string{"code": "CAPABILITY_DENIED", "message": fmt.Sprintf(format, values...)}
	refusal := reply{"ok": false, "error": failure}
	if c.denial == nil {
		c.denial = refusal
	}
	return refusal
}

// contentAt is a file's text as this call sees it, its own changes included; nil when there is none.
func (c *call) contentAt(path string) *string {
	if content, isStaged := c.staged[path]; isStaged {
		return content
	}
	if content, exists := c.files[path]; exists {
		return &content
	}
	return nil
}

func (c *call) commit() {
	for path, content := range c.staged {
		if content == nil {
			delete(c.files, path)
		} else {
			c.files[path] = *content
		}
	}
}

var (
	scopePath = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)
	// JSON in which every escape of a high surrogate is followed by one of a low surrogate, and none stands alone.
	wholeSurrogates = regexp.MustCompile(
		`(?s)^(?:[^\\]|\\(?:[^u]|u(?:[^dD]|[dD](?:[0-7]|[89abAB]..\\u[dD][c-fC-F]))))*$`)
)

func isScopePath(path string) bool { return len(path) <= pathCharsMax && scopePath.MatchString(path) }

func isTrashPath(path string) bool { return path == "trash" || strings.HasPrefix(path, "trash/") }
