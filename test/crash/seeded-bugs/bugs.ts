/**
 * Bugs that a crash suite must find: in change sets of one home and of several, in what is kept between two calls, and in
 * what the host keeps about a user. Each replaces a text of the compiled host, which must occur exactly once: a bug that
 * no longer applies fails the run, so that its loss does not pass unnoticed.
 */
export interface SeededBug {
  readonly name: string;
  /** Relative to the folder of the compiled host. */
  readonly file: string;
  readonly find: string;
  readonly replacement: string;
  /** Why no suite can find it, if none can. */
  readonly isHarmless?: string | undefined;
}

type Replacement = readonly [find: string, replacement: string, isHarmless?: string];

/** By file, and then by name. */
const bugs: Readonly<Record<string, Readonly<Record<string, Replacement>>>> = {
  "store/files/commit/wal.js": {
    "a record is not flushed": ["await flushRecord(this.#file, at, record.joint === undefined);", "void flushRecord;"],
    "files are trusted after their flush has failed": [
      "this.#file.write(distrustOffset, Uint8Array.of(distrustMark));",
      "void distrustMark;",
    ],
    "a part is not flushed": [
      `if (isFlushed)
            await flushRecord`,
      `if (isFlushed && !record.joint?.leader)
            await flushRecord`,
    ],
    "a part's mark is not durable": [
      `this.markApplied(appliedUs);
        try {
            await this.#file.flush();`,
      `this.markApplied(appliedUs);
        try {
            void this.#file;`,
    ],
    "a WAL that was copied over the open one counts as the same": [
      "&& this.#seal.isUnbroken(this.#file, this.#now)",
      "",
    ],
  },
  "store/files/home-session.js": {
    "applied before the record is written": [
      `await change.record();
        if (await change.isEdited())
            await change.takeBack();
        await change.apply();`,
      `await change.apply();
        await change.record();
        this.wal.markApplied();
        this.#setup.memo.tail = this.wal.tail;`,
    ],
  },
  "store/files/open-session.js": {
    "the lock is released before the work": [
      "return { session: new HomeSession(owned, new SessionPlace(owned, folder, own, lock)), own, isRemembered };",
      `const session = new HomeSession(owned, new SessionPlace(owned, folder, own, lock));
        lock[Symbol.dispose]();
        return { session, own, isRemembered };`,
    ],
    "recovery outside the lock": [
      "lock = own && (await lockHome(own, { ...waiting, shown: shownAs[home.kind] }));",
      `if (folder && own) {
                const anew = { ...setup, memo: new memo.constructor(home.kind), isOwned, note: () => {} };
                const early = new HomeSession(anew, new SessionPlace(anew, folder, own, { isInPlace: () => true }));
                early.begin();
                await early.recover();
            }
            lock = own && (await lockHome(own, { ...waiting, shown: shownAs[home.kind] }));`,
    ],
  },
  "store/files/commit/retire.js": {
    "retired without flushing files": ["await flushed(() => file.flush(), onFailure);", "void file;"],
    "retired without flushing folders": ["await flushed(() => folders.flush(), onFailure);", ""],
    "checkpoint before the flushes": [
      `await flushTrusted(folders, wal, files);
    await wal.checkpoint();`,
      `await wal.checkpoint();
    await flushTrusted(folders, wal, files);`,
    ],
  },
  "store/files/session-wal.js": {
    "the first call does not flush the folders above": ["await this.#place.folder.flush();", "void 0;"],
  },
  "store/files/commit/find-records.js": {
    "a record's check is not verified": ["if (checkOf(salt, sequence, json) !== head.check)", "if (false)"],
    "remembered WAL records are trusted without a check": [
      `if (file.identity !== known.identity)
        return null;`,
      "if (known) return { ...known, records: [], isDistrusted: false, isContinued: true };",
    ],
  },
  "store/files/commit/wal-format.js": {
    "a torn record is applied": [
      'return beginCheck(salt, sequence, json).update(json).digest("hex");',
      'return beginCheck(salt, sequence, json).update(json.subarray(0, 200)).digest("hex");',
    ],
    "the salt is always the same": [
      'export const newSalt = () => randomBytes(16).toString("hex");',
      'export const newSalt = () => Buffer.alloc(randomBytes(16).length).toString("hex");',
      "numbers go on over checkpoints, so a leftover has one that does not fit, and no JSON looks like a head",
    ],
  },
  "store/files/commit/recover.js": {
    "an edit is overwritten after a kill": [
      "note(`recovery kept ${file.path} as someone has edited it`);",
      "pending.push({ ...file, present: null });",
    ],
    "an interrupted recovery forgets what it has judged": [
      "await noteJudgement(recovery, kept);",
      "void noteJudgement;",
    ],
    "recovery applies records that may not be durable": ["await wal.confirm();", "void 0;"],
    "a file that the host moved away counts as removed by a person": [
      "(present === null && isMovedAway(folders, record, file))",
      "(isMovedAway === null)",
    ],
    "recovery leaves staged files behind": ["removeStaged(own);", "void removeStaged;"],
  },
  "store/files/commit/judge-files.js": {
    "a person's change is undone after a restart": [": isChanged(file, measured));", ": isChanged === null);"],
    "what a person has removed comes back after a restart": [
      "return hasAllNames(file, onDisk) && onDisk.folder.namesChangedUs > (file.appliedUs ?? 0);",
      "return false;",
    ],
    "a name that a crash has lost counts as removed by a person": [" && own.namesChangedUs >= appliedUs", ""],
  },
  "store/files/commit/apply-files.js": {
    "recovery names a file before its content is durable": [
      "await staged?.flush();",
      "void staged;",
      "the file then has the times of a person's, and its recorded content, so it is judged as torn",
    ],
    "files are written in place": [
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
    "recovery removes before it puts": [
      "for (const file of [...written, ...removed])",
      "for (const file of [...removed, ...written])",
      "the record holds every content until all are durable; the order matters only if the WAL gets lost",
    ],
  },
  "store/files/home-change.js": {
    "marked as applied before it is": [
      `await this.#applyStaged();
            await this.#markApplied();`,
      `await this.#markApplied();
            await this.#applyStaged();`,
    ],
  },
  "store/files/commit/write-record.js": {
    "a failed flush is acknowledged": [
      `erase(file, at);
        throw new WalUnflushable("The WAL could not be flushed", { cause: error });`,
      "void WalUnflushable; void error;",
    ],
    "a failed flush is tried again": [
      `erase(file, at);
        throw new WalUnflushable("The WAL could not be flushed", { cause: error });`,
      "void error; await file.flush();",
    ],
  },
  "store/files/commit/write-checkpoint.js": {
    "a checkpoint stays after its flush has failed": [
      "file.write(checkpointOffsets[now.slot] ?? 0, Buffer.alloc(checkpointBytesMax));",
      "void checkpointBytesMax; return;",
      "the next append writes the header again unless it is known to be flushed",
    ],
  },
  "store/plan-changes.js": {
    "an edit during a call is not noticed": [
      `if (seen && seen.digest !== before)
        throw new StaleCall();`,
      "",
    ],
    "a file's stamp counts, whatever it says": ["&& stamp.text === seen.stamp", ""],
  },
  "store/files/shared/joint-commit.js": {
    "the leader's record comes before its parts": [
      "await settleAll(others.map(record));",
      `await leader.change.record({ id, others: others.map((part) => part.id) });
        await settleAll(others.map(record));
        leader.change.record = async () => {};`,
    ],
    "a part is applied before the leader's record": [
      "await settleAll(others.map(record));",
      `await settleAll(others.map(record));
        for (const { change } of others)
            await change.applyPart();`,
    ],
    "the leader is marked before its parts": [
      "const isApplied = await leader.change.applyPart();",
      `const isApplied = await leader.change.applyPart();
    await leader.change.endJoint();`,
    ],
    "an edit during a change of several stores is not noticed": ["throw new StaleCall();", "void StaleCall;"],
    "parts are erased although their leader can still appear": ["if (!leader.session.isBroken)", "if (leader)"],
  },
  "store/files/shared/joint-recovery.js": {
    "recovery applies parts that were never committed": [
      "return leader?.wal ? hasCommitted(leader.wal, id) : false;",
      "return leader !== undefined || hasCommitted(leader, id);",
    ],
    "recovery takes back parts that were committed": [
      "return leader?.wal ? hasCommitted(leader.wal, id) : false;",
      "return hasCommitted === id;",
    ],
    "recovery decides without the other stores": [".filter((id) => !wanted.has(id))", ".filter(() => false)"],
    "recovery finishes a leader before its parts": ["locked.sessions().toReversed()", "locked.sessions()"],
    "the absence of a leader's record is not durable": ["await leader?.confirm();", "void leader;"],
    "a part that is gone is not durably gone": ["await session.confirm();", "void session;"],
  },
  "store/files/homes.js": {
    "an open part is retired": [
      "if (session?.wal && unresolvedOf(session.wal) === null)",
      "if (session?.wal && unresolvedOf)",
    ],
  },
  "store/files/kept-sessions.js": {
    "a kept session is used without a look at its place": [
      "return session.ageMs < ageMs && session.isStill();",
      "return session.ageMs < ageMs;",
    ],
    "a session is kept while somebody waits for its lock": ["|| session.place.isWaitedFor()", ""],
  },
  "disk/file-stamp.js": {
    "a file that has just changed has a stamp on a disk with coarse times": [
      'if (times === "tick" && !(nowMs - Number(ctimeNs / 1000000n) > youngMs))',
      'if (times === "tick" && nowMs < 0)',
      "on this machine each change has a time of its own; test/unit/file-stamp.test.ts finds it",
    ],
  },
  "store/files/record-changes.js": {
    "a record of the host is not flushed": [
      `await folder.flush();
    own.remove(mark);`,
      `void folder;
    own.remove(mark);`,
    ],
    "the host's records of a killed process are taken for durable": ["await folder?.flush();", "void folder;"],
  },
  "store/decided-commits.js": {
    "a write stops waiting before it is applied": [
      "await decision?.begin(records, history);",
      `await decision?.begin(records, history);
    await decision?.end(records);`,
    ],
  },
  "gate/approval.js": {
    "an approval is not noted before it is applied": [
      'await noteDecisions(records, [{ id, how: "approved", atMs, by: null }]);',
      "void noteDecisions;",
    ],
  },
  "call/gated-call.js": {
    "a run that has read is trusted less only after the answer": ["await runTrust.lower(", "void runTrust.lower("],
  },
};

export const seededBugs: readonly SeededBug[] = Object.entries(bugs).flatMap(([file, ofFile]) =>
  Object.entries(ofFile).map(([name, [find, replacement, isHarmless]]) => ({
    name,
    file,
    find,
    replacement,
    isHarmless,
  })),
);
