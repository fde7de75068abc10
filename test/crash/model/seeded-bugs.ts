/**
 * Bugs of the store that the model must find. Each replaces a text of the compiled host, which must occur exactly once: a
 * bug that no longer applies fails a test, so that its loss does not pass unnoticed.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface SeededBug {
  readonly name: string;
  /** Relative to the folder of the compiled host. */
  readonly file: string;
  readonly find: string;
  readonly replacement: string;
  /** The script that finds it first. */
  readonly script: string;
}

type Replacement = readonly [script: string, find: string, replacement: string];

/** By file, and then by name. */
const bugs: Readonly<Record<string, Readonly<Record<string, Replacement>>>> = {
  "store/files/session-settling.js": {
    "what nobody needs is forgotten before it is sure that its frame is settled": [
      "a write into a store is approved as it was corrected",
      `await journal.flush();
            journal.forget(left);`,
      "journal.forget(left);",
    ],
  },
  "store/files/journal/journal.js": {
    "a frame is not flushed": ["first call", "await this.#flushFrame(at);", "void this.#flushFrame;"],
    "a failed flush is acknowledged": [
      "the journal's flush fails",
      "throw new FrameUnflushable(tableCode, message, { cause });",
      "void FrameUnflushable; void tableCode;",
    ],
    "a failed flush is tried again": [
      "the journal's flush fails",
      "throw new FrameUnflushable(tableCode, message, { cause });",
      "void FrameUnflushable; void tableCode; await this.#file.flush();",
    ],
  },
  "store/files/home-session.js": {
    "applied before the frame is written": [
      "first call",
      "await this.#write({ ...frame, versions: versions.map(({ line }) => line), contents }, creator);",
      `await this.#applyStaged({ ...staged, creator, versions });
            await this.#write({ ...frame, versions: versions.map(({ line }) => line), contents }, creator);`,
    ],
    "the first call does not flush the folders above": [
      "first call",
      "await settleAll([folder.flush(), flushJournalEnd(own)]);",
      "void settleAll;",
    ],
    "a segment is left without a flush": ["the journal's flush fails", "await this.place.journal?.flush();", "void 0;"],
    "marked as applied before it is": [
      "replace",
      `await this.#applyStaged(change);
            await this.#markApplied(change);`,
      `await this.#markApplied(change);
            await this.#applyStaged(change);`,
    ],
  },
  "store/files/commit/flushing.js": {
    "settled without flushing files": [
      "settle",
      "await settleAll(all.map((file) => file.flush().catch(orDistrust)));",
      "void orDistrust;",
    ],
    "settled without flushing folders": ["settle", "await folders.flush().catch(orDistrust);", "void folders;"],
  },
  "store/files/journal/read-journal.js": {
    "a torn frame is applied": [
      "same places again",
      `if (decoded === null)
            return null;
        contents.set(decoded.sha256, decoded.content);
    }
    const files = [];
    for (const file of facts.files) {
        const after = file.after === null ? null : contents.get(file.after);`,
      `if (decoded !== null)
            contents.set(decoded.sha256, decoded.content);
    }
    const files = [];
    for (const file of facts.files) {
        const after = file.after === null ? null : (contents.get(file.after) ?? Buffer.from("torn"));`,
    ],
  },
  "store/files/commit/recover.js": {
    "an edit is overwritten after a kill": [
      "edits between calls",
      "note(`recovery kept ${file.path} as someone has edited it`);",
      "pending.push({ ...file, present: null });",
    ],
    "an interrupted recovery forgets what it has judged": [
      "changes by hand, then a restart",
      "await noteJudgement(recovery, asTheyAre);",
      "void noteJudgement;",
    ],
    "recovery applies frames that may not be durable": ["two processes", "await journal.confirm();", "void 0;"],
    "a file that the host moved away counts as removed by a person": [
      "recreate",
      "(present === null && isMovedAway(folders, record, file))",
      "(isMovedAway === null)",
    ],
    "recovery leaves staged files behind": [
      "first call",
      `await finish(recovery, last);
    removeStaged(own);`,
      "await finish(recovery, last);",
    ],
  },
  "store/files/commit/judge-files.js": {
    "a person's change is undone after a restart": [
      "changes by hand, then a restart",
      ": isChanged(file, measured));",
      ": isChanged === null);",
    ],
    "what a person has removed comes back after a restart": [
      "changes by hand, then a restart",
      "folders.nearest(scope, path).namesChangedUs > (file.appliedUs ?? 0)",
      "false",
    ],
    "a name that a crash has lost counts as removed by a person": [
      "edits between calls",
      " && own.namesChangedUs >= appliedUs",
      "",
    ],
  },
  "store/files/commit/apply-files.js": {
    "files are written in place": [
      "replace",
      "put({ folder: own, name }, folders.make(file.scope, file.path));",
      `{
            const target = folders.make(file.scope, file.path);
            const place = target.folder.openFile(target.name, file.path, "make");
            place.truncate(0);
            place.write(0, file.after);
            place[Symbol.dispose]();
            own.remove(name);
        }`,
    ],
  },
  "store/plan-changes.js": {
    "an edit during a call is not noticed": [
      "edit meanwhile",
      `if (seen && seen.digest !== before)
        throw new StaleCall();`,
      "",
    ],
  },
  "store/files/record-files.js": {
    "a record that is removed without a log is not flushed": [
      "a write is rejected on a full disk",
      "await folder.flush();",
      "void folder;",
    ],
  },
  "store/files/held-files.js": {
    "a rename trashes here before it writes there": [
      "a rename into another store",
      "for (const part of parts) {",
      "for (const part of parts.toReversed()) {",
    ],
  },
  "call/commit.js": {
    "a write stops waiting before it is applied": [
      "waits, is approved and rejected",
      `if (isOne)
            await records.remove("pending", approved.id);`,
      `if (isOne) {
            await records.remove("pending", approved.id);
            await records.commit();
        }`,
    ],
    "a write stops waiting before it is applied in a store": [
      "a write into a store waits",
      `else
            await records.commit();
    }
    await withReads();`,
      `else {
            await records.remove("pending", approved.id);
            await records.commit();
        }
    }
    await withReads();`,
    ],
  },
  "call/call.js": {
    "a run that has read is trusted less only after the answer": [
      "a run reads and is trusted less",
      "await this.#noteAfterwards(call, toNote);",
      "void this.#noteAfterwards(call, toNote);",
    ],
  },
};

export const seededBugs: readonly SeededBug[] = Object.entries(bugs).flatMap(([file, ofFile]) =>
  Object.entries(ofFile).map(([name, [script, find, replacement]]) => ({ name, file, find, replacement, script })),
);

/** Copies the compiled host with one bug to a folder below `dist`, where packages resolve. Returns the host's folder. */
export function seedHost(distFolder: string, bug: SeededBug): string {
  const copy = join(distFolder, "seeded-in-test", bug.name.replaceAll(/[^a-z]+/g, "-"));
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  for (const each of ["host", "shared"]) cpSync(join(distFolder, each), join(copy, each), { recursive: true });
  symlinkSync(join(distFolder, "plugins"), join(copy, "plugins"));
  writeFileSync(join(copy, "host", bug.file), seededCode(join(copy, "host"), bug));
  return join(copy, "host");
}

/** The compiled code of a bug's file, with the bug. */
export function seededCode(hostFolder: string, { name, file, find, replacement }: SeededBug): string {
  const parts = readFileSync(join(hostFolder, file), "utf8").split(find);
  if (parts.length === 2) return parts.join(replacement);
  throw new Error(`Cannot seed "${name}": its text is ${parts.length - 1} times in ${file}, exactly once is expected`);
}
