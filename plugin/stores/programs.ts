/** What programs keep in a store, out of sight of models: the tools with the roles `get` and `set`. */
import type { GetInput, GetOutput, SetInput } from "../../shared/roles.ts";
import { isStoreId, ownStoreScope, scopeOfStore } from "../../shared/shared-scope.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import { quoted } from "../../shared/text.ts";
import { accessTo } from "../kit/capabilities.ts";
import { breaksLine } from "../kit/plain-line.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { done } from "./change-entry.ts";
import type { Changed } from "./change-entry.ts";
import { EntryStore } from "./entry-store.ts";
import type { EntryId } from "./key-path.ts";
import { checkKey } from "./memory-path.ts";
import { entryLimits } from "./store-limits.ts";
import { shownValue, valueFrom } from "./value.ts";

export function getInternal({ store, key, namespace = "" }: GetInput): Answer<GetOutput> {
  checkKey(key);
  checkNamespace(namespace);
  const { at, self } = reached(store, "read");
  const id = idOf(self, namespace, key);
  const entry = at.find({ ...id, isInternal: true }) ?? at.find({ ...id, isInternal: false });
  if (entry === null) return { message: "Not found", data: { found: false, value: null } };
  return { message: "Found", data: { found: true, value: shownValue(entry.value) } };
}

export function setInternal({ store, key, value, namespace = "", encrypted = false, ttl }: SetInput): Answer<Changed> {
  checkKey(key);
  checkNamespace(namespace);
  const { at, self } = reached(store, "readwrite");
  const id = idOf(self, namespace, key);
  const [internal, shown] = [at.find({ ...id, isInternal: true }), at.find({ ...id, isInternal: false })];
  const entry = { ...id, isInternal: true, encrypted, value: valueFrom(value), ...at.times(internal ?? shown, ttl) };
  at.write(entry, internal);
  // What models saw under this key so far is not the value any more.
  if (shown !== null) at.trash(shown);
  at.saveIndex();
  return done(`Set ${key}`, []);
}

/** Names that look the same are one, as in a path of the tool `memory`. */
const idOf = (owner: string, namespace: string, key: string): Pick<EntryId, "owner" | "namespace" | "key"> => ({
  owner,
  namespace: namespace.normalize("NFC"),
  key: key.normalize("NFC"),
});

interface Programs {
  readonly at: EntryStore;
  readonly self: string;
}

function reached(store: string | undefined, level: AccessLevel): Programs {
  const own = accessTo(ownStoreScope);
  if (store !== undefined && !isStoreId(store)) {
    throw new ToolError("INPUT_INVALID", `Cannot use the store ${quoted(store)}: allowed: a UUID in lower case`);
  }
  const access = store === undefined || store === own.store ? own : accessTo(scopeOfStore(store));
  return { at: new EntryStore(access).check(level), self: own.store };
}

function checkNamespace(namespace: string): void {
  const { namespaceCharsMax } = entryLimits;
  if (namespace.length <= namespaceCharsMax && !breaksLine.test(namespace) && namespace.isWellFormed()) return;
  const allowed = `at most ${namespaceCharsMax} characters on one line`;
  throw new ToolError("INPUT_INVALID", `Cannot use the namespace ${quoted(namespace)}: allowed: ${allowed}`);
}
