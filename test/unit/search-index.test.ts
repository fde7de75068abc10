/** The index of the text search follows every change, by tools and by people, and is never trusted beyond that. */
import { describe, expect, test } from "vitest";

import { search } from "../../plugin/search/search.ts";
import { indexText, jsonOf, keysFound, keysRead, pathOf, TestStore } from "./searched-store.ts";

const threeBoats = (): TestStore =>
  new TestStore("one", { a: { value: "boat" }, b: { value: "ship" }, c: { value: "raft" } });

describe("changes by tools", () => {
  test("a search reads nothing but its hits", () => {
    const store = threeBoats();
    expect(keysRead(store)).toEqual([]);
    expect(keysFound("boat", store)).toEqual(["a"]);
    expect(store.read).toEqual([pathOf("a")]);
  });

  test("a new value takes the place of the old one, and leaves no word of it", () => {
    const store = threeBoats();
    store.write("a", { value: "canoe" });
    expect(keysFound("boat", store)).toEqual([]);
    expect(keysFound("canoe", store)).toEqual(["a"]);
    expect(indexText(store)).not.toContain("boat");
  });

  test("a deleted entry is gone, and its row is used again", () => {
    const store = threeBoats();
    store.delete("b");
    expect(indexText(store)).not.toContain("ship");
    store.write("d", { value: "yacht" });
    expect(indexText(store)).toMatch(/\nyacht 1 \n/);
    expect([keysFound("ship", store), keysFound("yacht", store), keysRead(store)]).toEqual([[], ["d"], []]);
  });

  test("an entry in which there is nothing left to find is forgotten", () => {
    const store = threeBoats();
    store.write("a", null);
    expect([keysFound("boat", store), keysRead(store)]).toEqual([[], []]);
    expect(indexText(store)).not.toContain("boat");
  });
});

describe("changes by people", () => {
  test("an edited file is read, and the next write indexes it", () => {
    const store = threeBoats();
    store.edit(pathOf("a"), jsonOf("a canoe"));
    expect(keysRead(store)).toEqual(["a"]);
    expect([keysFound("canoe", store), keysFound("boat", store)]).toEqual([["a"], []]);
    store.write("c", { value: "ferry" });
    expect([keysRead(store), keysFound("canoe", store), keysFound("boat", store)]).toEqual([[], ["a"], []]);
  });

  test("an edit of the same length is seen, right after a tool's write and also later", () => {
    const store = threeBoats();
    store.edit(pathOf("c"), jsonOf("skif"));
    expect(keysFound("skif", store)).toEqual(["c"]);
    store.write("a", { value: "canoe" });
    store.edit(pathOf("c"), jsonOf("kite"));
    expect([keysFound("kite", store), keysFound("skif", store)]).toEqual([["c"], []]);
  });

  test("an edit of another length is seen even in the same tick of the clock", () => {
    const store = threeBoats();
    store.editAtOnce(pathOf("c"), jsonOf("gondola"));
    expect([keysFound("gondola", store), keysFound("raft", store)]).toEqual([["c"], []]);
  });

  test("an edit between a call's listing and its commit is seen after the commit", () => {
    const store = threeBoats();
    store.write("b", { value: "sloop" });
    store.beforeCommit = () => store.edit(pathOf("a"), jsonOf("bark"));
    store.write("b", { value: "dhow!" });
    expect([keysFound("bark", store), keysFound("boat", store)]).toEqual([["a"], []]);
  });

  test("a new file is read, and the next write indexes it", () => {
    const store = threeBoats();
    store.edit(pathOf("new"), jsonOf("kayak"));
    expect([keysRead(store), keysFound("kayak", store)]).toEqual([["new"], ["new"]]);
    store.write("c", { value: "ferry" });
    expect([keysRead(store), keysFound("kayak", store)]).toEqual([[], ["new"]]);
  });

  test("a file that was removed is not found, and the next write forgets it", () => {
    const store = threeBoats();
    store.edit(pathOf("a"), null);
    expect(keysFound("boat", store)).toEqual([]);
    store.write("c", { value: "ferry" });
    expect(indexText(store)).not.toContain("boat");
  });

  test("a file that cannot be read as an entry is passed over", () => {
    const store = threeBoats();
    store.edit(pathOf("a"), "null");
    expect(keysFound("boat", store)).toEqual([]);
    store.write("c", { value: "ferry" });
    expect([keysFound("boat", store), keysRead(store)]).toEqual([[], []]);
  });

  test.each([
    ["empty", () => ""],
    ["no JSON", () => "x\ny 0 \n"],
    ["another JSON", () => "null\ny 0 \n"],
    ["of another version", (text: string) => text.replace('"version":2', '"version":0')],
    ["cut in its table", (text: string) => text.slice(0, 30)],
    ["cut in its postings", (text: string) => text.slice(0, -2)],
  ])("an index that is %s is not used, and the next write makes it anew", (_name, damaged) => {
    const store = threeBoats();
    const [path = ""] = store.indexFiles.map((file) => file.path);
    store.edit(path, damaged(store.textOf(path)));
    expect([keysRead(store), keysFound("boat", store)]).toEqual([["a", "b", "c"], ["a"]]);
    store.write("c", { value: "ferry" });
    expect([keysRead(store), keysFound("boat", store), keysFound("ferry", store)]).toEqual([[], ["a"], ["c"]]);
  });

  test("after an older copy of the index was put back, a refresh finds what it does not know", () => {
    const store = threeBoats();
    const [path = ""] = store.indexFiles.map((file) => file.path);
    const older = store.textOf(path);
    store.write("new", { value: "kayak" });
    store.edit(path, older);
    expect([keysRead(store), keysFound("kayak", store)]).toEqual([["new"], ["new"]]);
    store.refresh();
    expect([keysRead(store), keysFound("kayak", store)]).toEqual([[], ["new"]]);
  });

  test("an entry that cannot be read any more makes room for the next", () => {
    const { indexed } = new TestStore("one", { a: { value: "boat" }, b: { value: "boat" }, c: { value: "boat" } });
    const readEntry: typeof indexed.readEntry = (path) => (path === pathOf("a") ? null : indexed.readEntry(path));
    const { hits } = search({ query: "boat", stores: [() => ({ ...indexed, readEntry })], limit: 1, nowMs: 1 });
    expect(hits.map(({ entry }) => entry.key)).toEqual(["b"]);
  });

  test("rows and postings that make no sense are passed over", () => {
    const store = threeBoats();
    const [path = ""] = store.indexFiles.map((file) => file.path);
    const text = store
      .textOf(path)
      .replace('["entries/b",', '["entries/b","x",')
      .replace(/\nboat .*\n/, "\nboat 0:x 99 -1 2:0 z \n");
    store.edit(path, text);
    expect(keysRead(store)).toEqual(["b"]);
    expect([keysFound("boat", store), keysFound("ship", store)]).toEqual([[], ["b"]]);
  });

  test("after a backup was put back, every entry is read until it is indexed again", () => {
    const store = threeBoats();
    store.restore();
    expect([keysRead(store), keysFound("boat", store)]).toEqual([["a", "b", "c"], ["a"]]);
    expect(store.refresh()).toBe(true);
    expect([keysRead(store), keysFound("boat", store)]).toEqual([[], ["a"]]);
  });
});
