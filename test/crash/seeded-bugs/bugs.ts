import { jointBugs } from "./joint-bugs.ts";
import { keptBugs } from "./kept-bugs.ts";
import { recordBugs } from "./record-bugs.ts";
import type { SeededBug } from "./seeded-bug.ts";

const wal = "store/files/commit/wal.js";
const format = "store/files/commit/wal-format.js";
const records = "store/files/commit/find-records.js";
const recover = "store/files/commit/recover.js";
const retire = "store/files/commit/retire.js";
const apply = "store/files/commit/apply-files.js";
const session = "store/files/home-session.js";
const sessionWal = "store/files/session-wal.js";
const change = "store/files/home-change.js";
const openSession = "store/files/open-session.js";

const write = "store/files/commit/write-record.js";
const judge = "store/files/commit/judge-files.js";

const failedFlush = `erase(file, at);
        throw new WalUnflushable("The WAL could not be flushed", { cause: error });`;

const bugsOfHomes: readonly SeededBug[] = [
  {
    name: "a record is not flushed",
    file: wal,
    find: "await flushRecord(this.#file, at, record.joint === undefined);",
    replacement: "void flushRecord;",
  },
  {
    name: "applied before the record is written",
    file: session,
    find: `await change.record();
        if (await change.isEdited())
            await change.takeBack();
        await change.apply();`,
    replacement: `await change.apply();
        await change.record();
        this.wal.markApplied();
        this.#setup.memo.tail = this.wal.tail;`,
  },
  {
    name: "the lock is released before the work",
    file: openSession,
    find: "return { session: new HomeSession(owned, new SessionPlace(owned, folder, own, lock)), own, isRemembered };",
    replacement: `const session = new HomeSession(owned, new SessionPlace(owned, folder, own, lock));
        lock[Symbol.dispose]();
        return { session, own, isRemembered };`,
  },
  {
    name: "recovery outside the lock",
    file: openSession,
    find: "lock = own && (await lockHome(own, { ...waiting, shown: shownAs[home.kind] }));",
    replacement: `if (folder && own) {
                const anew = { ...setup, memo: new memo.constructor(home.kind), isOwned, note: () => {} };
                const early = new HomeSession(anew, new SessionPlace(anew, folder, own, { isInPlace: () => true }));
                early.begin();
                await early.recover();
            }
            lock = own && (await lockHome(own, { ...waiting, shown: shownAs[home.kind] }));`,
  },
  {
    name: "retired without flushing files",
    file: retire,
    find: "await flushed(() => file.flush(), onFailure);",
    replacement: "void file;",
  },
  {
    name: "retired without flushing folders",
    file: retire,
    find: "await flushed(() => folders.flush(), onFailure);",
    replacement: "",
  },
  {
    name: "checkpoint before the flushes",
    file: retire,
    find: `await flushTrusted(folders, wal, files);
    await wal.checkpoint();`,
    replacement: `await wal.checkpoint();
    await flushTrusted(folders, wal, files);`,
  },
  {
    name: "the first call does not flush the folders above",
    file: sessionWal,
    find: "await this.#place.folder.flush();",
    replacement: "void 0;",
  },
  {
    name: "a record's check is not verified",
    file: records,
    find: "if (checkOf(salt, sequence, json) !== head.check)",
    replacement: "if (false)",
  },
  {
    name: "a torn record is applied",
    file: format,
    find: 'return beginCheck(salt, sequence, json).update(json).digest("hex");',
    replacement: 'return beginCheck(salt, sequence, json).update(json.subarray(0, 200)).digest("hex");',
  },
  {
    name: "the salt is always the same",
    file: format,
    find: 'export const newSalt = () => randomBytes(16).toString("hex");',
    replacement: 'export const newSalt = () => Buffer.alloc(randomBytes(16).length).toString("hex");',
    isHarmless:
      "numbers go on over checkpoints, so a leftover has one that does not fit, and no JSON looks like a head",
  },
  {
    name: "an edit is overwritten after a kill",
    file: recover,
    find: "note(`recovery kept ${file.path} as someone has edited it`);",
    replacement: "pending.push({ ...file, present: null });",
  },
  {
    name: "a person's change is undone after a restart",
    file: judge,
    find: ": isChanged(file, measured));",
    replacement: ": isChanged === null);",
  },
  {
    name: "what a person has removed comes back after a restart",
    file: judge,
    find: "return hasAllNames(file, onDisk) && onDisk.folder.namesChangedUs > (file.appliedUs ?? 0);",
    replacement: "return false;",
  },
  {
    name: "a name that a crash has lost counts as removed by a person",
    file: judge,
    find: " && own.namesChangedUs >= appliedUs",
    replacement: "",
  },
  {
    name: "an interrupted recovery forgets what it has judged",
    file: recover,
    find: "await noteJudgement(recovery, kept);",
    replacement: "void noteJudgement;",
  },
  {
    name: "recovery names a file before its content is durable",
    file: apply,
    find: "await staged?.flush();",
    replacement: "void staged;",
    isHarmless: "the file then has the times of a person's, and its recorded content, so it is judged as torn",
  },
  {
    name: "remembered WAL records are trusted without a check",
    file: records,
    find: `if (file.identity !== known.identity)
        return null;`,
    replacement: "if (known) return { ...known, records: [], isDistrusted: false, isContinued: true };",
  },
  {
    name: "marked as applied before it is",
    file: change,
    find: `await this.#applyStaged();
            await this.#markApplied();`,
    replacement: `await this.#markApplied();
            await this.#applyStaged();`,
  },
  {
    name: "files are written in place",
    file: apply,
    find: "put({ folder: own, name }, folders.make(file.scope, file.path));",
    replacement: `{
            const target = folders.make(file.scope, file.path);
            const place = target.folder.openFile(target.name, file.path, "make");
            place.truncate(0);
            place.write(0, file.after);
            place[Symbol.dispose]();
            own.remove(name);
        }`,
  },
  {
    name: "a failed flush is acknowledged",
    file: write,
    find: failedFlush,
    replacement: "void WalUnflushable; void error;",
  },
  {
    name: "a failed flush is tried again",
    file: write,
    find: failedFlush,
    replacement: "void error; await file.flush();",
  },
  {
    name: "recovery applies records that may not be durable",
    file: recover,
    find: "await wal.confirm();",
    replacement: "void 0;",
  },
  {
    name: "a checkpoint stays after its flush has failed",
    file: "store/files/commit/write-checkpoint.js",
    find: "file.write(checkpointOffsets[now.slot] ?? 0, Buffer.alloc(checkpointBytesMax));",
    replacement: "void checkpointBytesMax; return;",
    isHarmless: "the next append writes the header again unless it is known to be flushed",
  },
  {
    name: "files are trusted after their flush has failed",
    file: wal,
    find: "this.#file.write(distrustOffset, Uint8Array.of(distrustMark));",
    replacement: "void distrustMark;",
  },
  {
    name: "a file that the host moved away counts as removed by a person",
    file: recover,
    find: "(present === null && isMovedAway(folders, record, file))",
    replacement: "(isMovedAway === null)",
  },
  {
    name: "an edit during a call is not noticed",
    file: "store/plan-changes.js",
    find: `if (seen && seen.digest !== before)
        throw new StaleCall();`,
    replacement: "",
  },
  {
    name: "recovery leaves staged files behind",
    file: recover,
    find: "removeStaged(own);",
    replacement: "void removeStaged;",
  },
  {
    name: "recovery removes before it puts",
    file: apply,
    find: "for (const file of [...written, ...removed])",
    replacement: "for (const file of [...removed, ...written])",
    isHarmless: "the record holds every content until all are durable; the order matters only if the WAL gets lost",
  },
];

export const seededBugs: readonly SeededBug[] = [...bugsOfHomes, ...jointBugs, ...keptBugs, ...recordBugs];
