/**
 * A folder that stands for one scope of one user: what lies in it is the scope, as it is, and the user's data folder has no
 * part in it. Everybody else's scope of that name stays in the data folder.
 *
 * The runtime keeps its lock and its write-ahead log in `.memcell/` inside the folder, so that all runtimes that mount it keep
 * each other out, and another user's id is refused there (`STORAGE_UNSAFE`). The first write makes the folder and what leads
 * to it, mode 0700; a file that is replaced keeps its permissions, a new one has 0600. Links that lead to the folder are
 * followed once, by `fileStore` or `createRuntime`; one that is put there later is `STORAGE_UNSAFE`.
 *
 * Where folders make no sense, `createRuntime` rejects with a `RangeError` or `TypeError`, as `fileStore` throws it: the same
 * scope of a user twice, folders that are or hold each other, the data folder or the audit log, one that lies in what another
 * host keeps under its lock (a folder with `.memcell/`, a user's folder), what is no user id, scope or folder. It rejects with
 * `PLUGIN_REFUSED` when no tool has the scope, or one has it and another: a change is never made in two places at once.
 *
 * @example
 * const mounts = [{ userId: "alice", scope: "journal", dir: "/ws/.agent/memory" }];
 * const runtime = await createRuntime({ dataDir: "data", mounts });
 */
export interface Mount {
  readonly userId: string;
  /** As tools' manifests name it: `[a-z][a-z0-9-]{0,31}`. */
  readonly scope: string;
  /** Need not be there. */
  readonly dir: string;
}
