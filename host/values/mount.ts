/**
 * A folder that serves as one scope of one user. Its files are the scope; nothing of this scope is in the user's data
 * folder. Other users' scopes of that name stay in the data folder.
 *
 * The runtime keeps its lock and its journal in `.memcell/` inside the folder. So all runtimes that mount the
 * folder exclude each other, and another user's id is refused there (`STORAGE_UNSAFE`). The first write creates the
 * folder and its parent folders with mode 0700. Files keep their owner, group and mode; new ones follow their folder
 * (`shared/README.md`, the data folder). Links on the way to the folder are followed once, by `fileStore` or `createRuntime`; a link that is added later is
 * `STORAGE_UNSAFE`.
 *
 * For invalid mounts, `fileStore` throws and `createRuntime` rejects with a `RangeError` or `TypeError`: the same scope
 * of a user twice; folders that are or contain each other, the data folder or the audit log; a user's folder, or a
 * folder inside one or inside a folder with `.memcell/`, which another host locks; an invalid user id, scope or folder.
 * `createRuntime` rejects with `PLUGIN_REFUSED` if no tool has the scope, or if a tool has it together with another
 * scope: one change set is never committed in two places.
 *
 * @example
 * const mounts = [{ userId: "alice", scope: "journal", dir: "/ws/.agent/memory" }];
 * const runtime = await createRuntime({ dataDir: "data", mounts });
 */
export interface Mount {
  readonly userId: string;
  /** The name in the tools' manifests: `[a-z][a-z0-9-]{0,31}`. */
  readonly scope: string;
  /** Need not exist. */
  readonly dir: string;
}
