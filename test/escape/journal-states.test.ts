/**
 * Hostile journals, and hostile logs of earlier formats: the host follows nothing in them out of the home's scopes, takes over
 * nothing of another home's, serves the home whatever they hold, and leaves all of it as it is where nothing may be written.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, describe, expect, test } from "vitest";

import { frameOf, headBytes as frameHead, journalLimits, segmentOf, segmentWith } from "../stage/journal.ts";
import type { JournaledChange } from "../stage/journal.ts";
import { digestOf } from "../stage/store.ts";
import { boots, encodeFiles, encodeRecord, headBytes, salt, thisBoot, walBytesMax, walOf } from "../stage/wal.ts";
import { Home, storeAt, StoreStage, textIn as textOf, write } from "../store/store-stage.ts";
import type { HeldHome } from "../store/store-stage.ts";
import { openDescriptorsAtRest } from "../support/open-descriptors.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { forms, own } from "./journal-forms.ts";
import type { Form } from "./journal-forms.ts";

const stage = await StoreStage.open("fileStore");
afterAll(() => stage[Symbol.asyncDispose]());
/** What is not the homes' that are attacked: another user, another store, and a folder outside. */
const maker = stage.openBeside();
const bystanders = [new Home(maker, "user", "bob"), new Home(maker, "store")];
for (const home of bystanders) await home.commit([write("x.md", "secret of bob")]);
await maker.store.close();
const outside = join(stage.dataDir, "../outside/memory");
mkdirSync(outside, { recursive: true });
const watched = (): unknown[] =>
  [...bystanders.map(({ folder }) => folder), outside].map((dir) => treeFingerprint(dir));

const asItWas = "as it was";
const kinds = ["user", "store"] as const;
const ownerOf = ({ kind, id }: Home): string => (kind === "user" ? id : `stores/${id}`);

const [journal, log] = forms as readonly [Form, Form];
const fileIn = ({ folder, inside }: Home): string => join(folder, inside, "x.md");
const textIn = (home: Home): string => readFileSync(fileIn(home), "utf8");

async function newHome(kind: Home["kind"]): Promise<Home> {
  const home = new Home(stage, kind);
  await home.commit([write("x.md", asItWas)]);
  return home;
}

/** The next use finds it, changes no file for it, and every use works. */
async function expectIgnored({ plant }: Form, home: Home, bytes: Uint8Array, size?: number): Promise<void> {
  const planted = plant(home, bytes);
  if (size !== undefined) truncateSync(planted, size);
  const before = [treeFingerprint(join(home.folder, home.inside)), watched()];
  await home.hold(async () => {}, { writes: false });
  expect([treeFingerprint(join(home.folder, home.inside)), watched()]).toEqual(before);
  expect(await home.ask(["read", "memory", "x.md"])).toEqual([{ value: asItWas }]);
  await home.commit([write("x.md", "written")]);
  expect([textIn(home), watched()]).toEqual(["written", before[1]]);
}

/** As a runtime that is read-only uses a home. */
async function readOnly<Result>(home: Home, work: (held: HeldHome) => Promise<Result>): Promise<Result> {
  const beside = stage.openBeside({ isReadOnly: true });
  try {
    return await new Home(beside, home.kind, home.id).hold(work, { writes: false });
  } finally {
    await beside.store.close();
  }
}

const unfinished = {
  code: "STORAGE_FAILED",
  message: expect.stringContaining("an interrupted change is unfinished, which a read-only runtime leaves to others"),
};

type File = JournaledChange["files"][number];

/** Changes `x.md`: the attacker knows what is in it. */
const taking = (home: Home, after: Buffer | null = Buffer.from("taken over")): File => ({
  scope: home.inside,
  path: "x.md",
  before: digestOf(Buffer.from(asItWas)),
  after,
});

/** Words between spaces, of which each can have escapes as JSON has them. */
const words = (text: string): string[] =>
  text
    .trim()
    .split(/\s+/)
    .map((word) => JSON.parse(`"${word}"`) as string);

const paths = [
  ...words(String.raw`
    ../../bob/memory/x.md ../x.md .. . / /tmp/memcell-escape ../../../outside/memory/x.md a/../../../bob/memory/x.md
    ./x.md x.md/ x//y trash/../../../bob/memory/x.md ../.memcell/owner .memcell/owner .hidden a\u0000b ..\\..\\bob
    C:\\x.md %2e%2e/x.md ．．/x.md x\n.md x.md\u0020 é.md`),
  "",
  "a".repeat(256),
  `${"d/".repeat(200)}x.md`,
];
const scopes = [...words("/etc .. . ../bob/memory memory/trash .memcell Memory a\\u0020b"), "", "a".repeat(40)];
const elsewhere = [
  { scope: "..", path: "bob/memory/x.md" },
  { scope: "../..", path: "outside/memory/x.md" },
];
const wrongPlaces = {
  user: [...scopes.map((scope) => ({ scope, path: "x.md" })), ...elsewhere],
  store: [
    ...["memory", ".memcell", "..", "../.."].map((scope) => ({ scope, path: "x.md" })),
    ...elsewhere,
    ...["owner", "journal", "granted/x", "trash/owner", "grants.json/x"].map((path) => ({ scope: "grants", path })),
  ],
};

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const ofKinds = kinds.flatMap((kind) => forms.map((form) => Object.assign({ kind }, form)));

describe.each(ofKinds)("$form of a $kind", ({ kind, ...form }) => {
  const scope = kind === "user" ? "memory" : "entries";
  const places = [...paths.map((path) => ({ scope, path })), ...wrongPlaces[kind]];

  // The first file of each record is the home's own, but must not be changed either.
  test.for(
    places.map((place) => ({
      place,
      name: `${JSON.stringify(place.path.slice(0, 40))} in ${JSON.stringify(place.scope)}`,
    })),
  )("a change of $name is ignored: one that writes, and one of a former start that removes", async ({ place }) => {
    for (const [at, { boot }] of boots.entries()) {
      const home = await newHome(kind);
      const after = at === 0 ? Buffer.from("taken over") : null;
      await expectIgnored(
        form,
        home,
        form.ofChange(ownerOf(home), { boot, files: [taking(home), { ...place, before: null, after }] }),
      );
    }
    expect(existsSync("/tmp/memcell-escape")).toBe(false);
  });

  test.for<{
    name: string;
    record: { boot?: string; isApplied?: true; isDistrusted?: true } | null;
    isUnfinished: boolean;
  }>([
    { name: "an applied change", record: { isApplied: true }, isUnfinished: false },
    { name: "a change that is not applied", record: {}, isUnfinished: true },
    {
      name: "a change of another start that is not on the disk",
      record: { boot: "another", isApplied: true },
      isUnfinished: true,
    },
    {
      name: "a change of another start that is on the disk",
      record: { boot: "another", isApplied: true },
      isUnfinished: false,
    },
    {
      name: "what is distrusted, with files as it says",
      record: { isApplied: true, isDistrusted: true },
      isUnfinished: false,
    },
    { name: "a file that is neither", record: null, isUnfinished: true },
  ])(
    "where nothing may be written, $name is left as it is, and what is unfinished is not read",
    async ({ record, isUnfinished }) => {
      const home = await newHome(kind);
      if (!isUnfinished) writeFileSync(fileIn(home), "taken over");
      const { boot = thisBoot, ...options } = record ?? {};
      const change = form.ofChange(ownerOf(home), { boot, files: [taking(home)] }, options);
      form.plant(home, record === null ? Buffer.from("no journal".repeat(2_000)) : change);
      const before = treeFingerprint(home.folder);
      const reading = readOnly(home, ({ reader }) => textOf(reader, home.scope, "x.md"));
      if (isUnfinished) await expect(reading).rejects.toMatchObject(unfinished);
      else expect(await reading).toBe("taken over");
      expect(treeFingerprint(home.folder)).toEqual(before);
      // A store that may write finishes it.
      expect(await home.text("x.md")).toBe(record === null ? asItWas : "taken over");
    },
  );

  test.for(boots)(
    "that of another home with a change $when is not taken over; control: its own is applied",
    async ({ boot }) => {
      const [theirs, mine] = [await newHome(kind), await newHome(kind)];
      const change = form.ofChange(ownerOf(theirs), { boot, files: [taking(theirs)] });
      for (const home of [mine, theirs]) form.plant(home, change);
      for (const home of [mine, theirs]) await home.hold(async () => {}, { writes: false });
      expect([textIn(mine), textIn(theirs)]).toEqual([asItWas, "taken over"]);
    },
  );
});

test.each(forms)("$form that names another scope applies in the user's own folder", async ({ plant, ofChange }) => {
  const home = await newHome("user");
  const files = [{ scope: "notes", path: "x.md", before: null, after: Buffer.from("kept") }];
  plant(home, ofChange(home.id, { boot: thisBoot, files }));
  await home.hold(async () => {}, { writes: false });
  expect(readFileSync(join(home.folder, "notes/x.md"), "utf8")).toBe("kept");
});

test.for(["lock", "turnstile", "owner", "journal", "journal-head"])(
  "where nothing may be written, no %s is made",
  async (name) => {
    for (const kind of kinds) {
      const home = await newHome(kind);
      rmSync(own(home, name), { recursive: true });
      const before = treeFingerprint(home.folder);
      expect(await readOnly(home, ({ reader }) => textOf(reader, home.scope, "x.md"))).toBe(asItWas);
      expect(treeFingerprint(home.folder)).toEqual(before);
    }
  },
);

describe.each(kinds)("in a journal of a %s", (kind) => {
  const facts = { boot: null, files: [] };
  type Frame = (hash: string) => Uint8Array;
  const good: Frame = (hash) => frameOf(1, hash, facts);
  const headed =
    (change: (head: string) => string): Frame =>
    (hash) => {
      const frame = Buffer.from(good(hash)).toString("latin1");
      return Buffer.from(change(frame.slice(0, frameHead)) + frame.slice(frameHead), "latin1");
    };

  test.for<{ name: string; frame: Frame }>([
    {
      name: "claims to be longer than any disk",
      frame: headed((head) => head.replace(/"bytes": {9}/, '"bytes":999999999')),
    },
    { name: "claims a negative length", frame: headed((head) => head.replace('"contents":  ', '"contents": -')) },
    { name: "has a number below zero", frame: headed((head) => head.replace('"frame":  ', '"frame": -')) },
    { name: "has another hash", frame: headed((head) => head.replace(/"hash":"./, '"hash":"g')) },
    { name: "ends in its head", frame: (hash) => good(hash).subarray(0, frameHead - 5) },
    { name: "ends in its facts", frame: (hash) => good(hash).subarray(0, frameHead + 3) },
    { name: "has facts that are null", frame: (hash) => frameOf(1, hash, null) },
    { name: "has facts that are a list", frame: (hash) => frameOf(1, hash, []) },
    { name: "has no files", frame: (hash) => frameOf(1, hash, { boot: null }) },
    { name: "has an extra key", frame: (hash) => frameOf(1, hash, { ...facts, owner: "bob" }) },
    {
      name: "names a prototype",
      frame: (hash) => frameOf(1, hash, JSON.parse('{"boot":null,"files":[],"__proto__":{}}')),
    },
    { name: "is out of sequence", frame: (hash) => frameOf(7, hash, facts) },
    { name: "follows another one", frame: () => frameOf(1, "0".repeat(64), facts) },
  ])("a frame that $name is ignored", async ({ frame }) => {
    const home = await newHome(kind);
    const { bytes, hash } = segmentOf(ownerOf(home));
    await expectIgnored(journal, home, Buffer.concat([bytes, frame(hash)]));
  });

  test.for([
    {
      name: "a change without its content",
      change: (text: string) => text.replace(/\{"sha256":"[0-9a-f]{64}","text":"taken over"\}\n/, ""),
    },
    {
      name: "a change with another content",
      change: (text: string) => text.replace('"text":"taken over"', '"text":"taken away"'),
    },
  ])("$name is ignored", async ({ change }) => {
    const home = await newHome(kind);
    const whole = segmentWith(ownerOf(home), { boot: thisBoot, files: [taking(home)] });
    await expectIgnored(journal, home, Buffer.from(change(whole.toString("latin1")), "latin1"));
  });

  test.for<{ name: string; segment: (owner: string) => Uint8Array; size?: number }>([
    { name: "text", segment: () => Buffer.from("hello") },
    { name: "noise", segment: () => Buffer.alloc(10_000, 0xa5) },
    { name: "a beginning cut short", segment: (owner) => segmentOf(owner).bytes.subarray(0, 60) },
    { name: "numbers that no journal has", segment: (owner) => segmentOf(owner, { first: 999_999_999_990 }).bytes },
    { name: "a beginning of another's", segment: () => segmentOf("bob").bytes },
    {
      name: "more bytes than any segment has",
      segment: (owner) => segmentOf(owner).bytes,
      size: journalLimits.fileBytesMax + 1,
    },
  ])("a segment of $name is put aside", async ({ segment, size }) => {
    const home = await newHome(kind);
    await expectIgnored(journal, home, segment(ownerOf(home)), size);
    expect(existsSync(own(home, "journal-damaged-1"))).toBe(true);
  });

  test.for<{ name: string; segment: (owner: string) => Uint8Array }>([
    { name: "nothing", segment: () => Buffer.alloc(0) },
    { name: "zeros", segment: () => Buffer.alloc(70_000) },
    { name: "a few zeros", segment: () => Buffer.alloc(7) },
  ])("a segment of $name is used", async ({ segment }) => {
    const home = await newHome(kind);
    await expectIgnored(journal, home, segment(ownerOf(home)));
    expect(existsSync(own(home, "journal-damaged-1"))).toBe(false);
  });

  test("a journal of a later format is refused with one line, and stays as it is", async () => {
    const home = await newHome(kind);
    const later = segmentOf(ownerOf(home)).bytes.toString("latin1").replace('"journal":4', '"journal":5');
    journal.plant(home, Buffer.from(later, "latin1"));
    const before = treeFingerprint(home.folder);
    const message = expect.stringContaining(
      "its journal has format 5, which a later memcell has written; expected at most 4",
    );
    for (const use of [home.hold(async () => {}, { writes: false }), home.commit([write("x.md", "written")])]) {
      await expect(use).rejects.toMatchObject({ code: "STORAGE_UNSAFE", message });
    }
    expect(treeFingerprint(home.folder)).toEqual(before);
  });
});

describe.each(kinds)("in a log of format 2 of a %s", (kind) => {
  const harmless = json({ boot: null, files: [] });
  const head = (sequence: string, bytes: string): Buffer =>
    Buffer.concat([Buffer.from(`record ${sequence} ${bytes} ${"0".repeat(64)} -\n`), harmless]);

  test.for([
    { name: "claims to be longer than any disk", records: head("000000000000001", "999999999999999") },
    { name: "claims a negative length", records: head("000000000000001", "-00000000000012") },
    { name: "has a sequence below zero", records: head("-00000000000001", "000000000000012") },
    { name: "has a wrong check", records: head("000000000000001", String(harmless.length).padStart(15, "0")) },
    { name: "ends in its head", records: encodeRecord(1, harmless).subarray(0, headBytes - 5) },
    { name: "ends in its text", records: encodeRecord(1, harmless).subarray(0, headBytes + 3) },
    { name: "is not JSON", records: encodeRecord(1, Buffer.from("{")) },
    { name: "is not UTF-8", records: encodeRecord(1, Buffer.from([0xff, 0xfe])) },
    { name: "is null", records: encodeRecord(1, json(null)) },
    { name: "is a list", records: encodeRecord(1, json([])) },
    { name: "has no files", records: encodeRecord(1, json({ boot: null })) },
    { name: "has an extra key", records: encodeRecord(1, json({ boot: null, files: [], owner: "bob" })) },
    { name: "names a prototype", records: encodeRecord(1, Buffer.from('{"boot":null,"files":[],"__proto__":{}}')) },
    { name: "is 50,000 lists deep", records: encodeRecord(1, Buffer.from("[".repeat(50_000))) },
    { name: "is out of sequence", records: encodeRecord(7, harmless) },
  ])("a record that $name is ignored", async ({ records }) => {
    const home = await newHome(kind);
    await expectIgnored(log, home, walOf(ownerOf(home), { records }));
  });

  test.for([
    { name: "text", wal: () => Buffer.from("hello") },
    { name: "noise", wal: () => Buffer.alloc(10_000, 0xa5) },
    {
      name: "a checkpoint with a wrong check",
      wal: () => Buffer.from(`memcell-journal 1 ${"0".repeat(15)} ${salt} ${salt}`),
    },
    { name: "a checkpoint cut short", wal: (owner: string) => walOf(owner).subarray(0, 60) },
    { name: "more bytes than any WAL has", wal: (owner: string) => walOf(owner), size: walBytesMax + 1 },
    { name: "a checkpoint of another's", wal: () => walOf("bob") },
  ])("a log of $name is put aside", async ({ wal, size }) => {
    const home = await newHome(kind);
    await expectIgnored(log, home, wal(ownerOf(home)), size);
    expect(existsSync(own(home, "journal-damaged-1"))).toBe(true);
  });

  test.for([
    { name: "nothing", wal: () => Buffer.alloc(0) },
    { name: "zeros", wal: () => Buffer.alloc(70_000) },
    { name: "a few zeros", wal: () => Buffer.alloc(7) },
    {
      name: "a checkpoint near the largest number",
      wal: (owner: string) => walOf(owner, { first: 999_999_999_999_990 }),
    },
  ])("a log of $name is used", async ({ wal }) => {
    const home = await newHome(kind);
    await expectIgnored(log, home, wal(ownerOf(home)));
    expect(existsSync(own(home, "journal-damaged-1"))).toBe(false);
  });

  test.for(boots)("a record $when of a part of a change of several stores counts alone", async ({ boot }) => {
    const home = await newHome(kind);
    const joint = { id: "a".repeat(32), leader: storeAt(1) };
    const record = encodeFiles({ boot, files: [taking(home)], joint });
    log.plant(home, walOf(ownerOf(home), { records: encodeRecord(1, record) }));
    await home.hold(async () => {}, { writes: false });
    expect(textIn(home)).toBe("taken over");
    await home.commit([write("x.md", "usable")]);
  });
});

test("no hostile journal has left a descriptor open", async () => {
  expect(await openDescriptorsAtRest(stage.dataDir)).toEqual([]);
});
