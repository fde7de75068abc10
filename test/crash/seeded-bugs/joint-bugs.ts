/** Bugs in change sets over several stores. */
import type { SeededBug } from "./seeded-bug.ts";

const wal = "store/files/commit/wal.js";
const homes = "store/files/homes.js";
const commit = "store/files/shared/joint-commit.js";
const recovery = "store/files/shared/joint-recovery.js";

export const jointBugs: readonly SeededBug[] = [
  {
    name: "a part is not flushed",
    file: wal,
    find: "if (isFlushed)\n            await flushRecord",
    replacement: "if (isFlushed && !record.joint?.leader)\n            await flushRecord",
  },
  {
    name: "the leader's record comes before its parts",
    file: commit,
    find: "await settleAll(others.map(record));",
    replacement: `await leader.change.record({ id, others: others.map((part) => part.id) });
        await settleAll(others.map(record));
        leader.change.record = async () => {};`,
  },
  {
    name: "a part is applied before the leader's record",
    file: commit,
    find: "await settleAll(others.map(record));",
    replacement: `await settleAll(others.map(record));
        for (const { change } of others)
            await change.applyPart();`,
  },
  {
    name: "a part's mark is not durable",
    file: wal,
    find: `this.markApplied(appliedUs);
        try {
            await this.#file.flush();`,
    replacement: `this.markApplied(appliedUs);
        try {
            void this.#file;`,
  },
  {
    name: "the leader is marked before its parts",
    file: commit,
    find: "const isApplied = await leader.change.applyPart();",
    replacement: `const isApplied = await leader.change.applyPart();
    await leader.change.endJoint();`,
  },
  {
    name: "an edit during a change of several stores is not noticed",
    file: commit,
    find: "throw new StaleCall();",
    replacement: "void StaleCall;",
  },
  {
    name: "recovery applies parts that were never committed",
    file: recovery,
    find: "return leader?.wal ? hasCommitted(leader.wal, id) : false;",
    replacement: "return leader !== undefined || hasCommitted(leader, id);",
  },
  {
    name: "recovery takes back parts that were committed",
    file: recovery,
    find: "return leader?.wal ? hasCommitted(leader.wal, id) : false;",
    replacement: "return hasCommitted === id;",
  },
  {
    name: "recovery decides without the other stores",
    file: recovery,
    find: ".filter((id) => !wanted.has(id))",
    replacement: ".filter(() => false)",
  },
  {
    name: "recovery finishes a leader before its parts",
    file: recovery,
    find: "locked.sessions().toReversed()",
    replacement: "locked.sessions()",
  },
  {
    name: "the absence of a leader's record is not durable",
    file: recovery,
    find: "await leader?.confirm();",
    replacement: "void leader;",
  },
  {
    name: "a part that is gone is not durably gone",
    file: recovery,
    find: "await session.confirm();",
    replacement: "void session;",
  },
  {
    name: "an open part is retired",
    file: homes,
    find: "if (session?.wal && unresolvedOf(session.wal) === null)",
    replacement: "if (session?.wal && unresolvedOf)",
  },
  {
    name: "parts are erased although their leader can still appear",
    file: commit,
    find: "if (!leader.session.isBroken)",
    replacement: "if (leader)",
  },
];
