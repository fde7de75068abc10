/** A process that commits once for each of some users, keeps their sessions, and waits to be killed. */
import type { UserId } from "../stage/store.ts";
import { DiskRoot, FileStore } from "./store-under-test.ts";

const { dataDir, userIds } = JSON.parse(process.argv[2] ?? "") as { dataDir: string; userIds: readonly UserId[] };

const kept = { idleMs: 60_000, ageMs: 60_000, sessionsMax: userIds.length };
const store = new FileStore(new DiskRoot(dataDir), { durability: "full", note: () => {}, kept });
for (const userId of userIds) {
  await store.hold(userId, { writes: true, until: performance.now() + 10_000 }, (held) =>
    held.commit([{ kind: "write", scope: "memory", path: "a.md", content: `of ${userId}` }], []),
  );
}
process.stdout.write("acknowledged\n");
// The store's own timers do not keep a process alive.
setInterval(() => {}, 60_000);
