import { spanLimits } from "../../../shared/limits.ts";
import type { ChainHead } from "../audit-log.ts";
import type { CallEntry } from "../audit-record.ts";

export type SpanAttributes = Record<string, string | number | boolean | string[] | number[]>;

/**
 * A call's record as the attributes of its span. Only the first paths are included. A missing file has -1 bytes. Fields
 * that are `null` in the record are left out.
 */
export function spanAttributes(entry: CallEntry, head: ChainHead | null): SpanAttributes {
  const { plugin, origin, reads, lists, writes, trashed, removed } = entry;
  const known = {
    "gen_ai.tool.call.id": entry.callId,
    "memcell.user.id": entry.userId,
    ...Object.fromEntries(Object.entries(entry.labels ?? {}).map(([name, text]) => [`memcell.label.${name}`, text])),
    "memcell.origin.class": origin?.class,
    "memcell.origin.run": origin?.run,
    "memcell.origin.turn": origin?.turn,
    "memcell.origin.source": origin?.source,
    "memcell.origin.exposed_to": origin?.exposedTo && [...origin.exposedTo],
    "memcell.plugin.name": plugin?.name,
    "memcell.plugin.version": plugin?.version,
    "memcell.plugin.sha256": plugin?.sha256,
    // Copies, because the record shares these lists with the tool's grant, and a span processor could change them.
    "memcell.scopes": [...entry.scopes],
    "memcell.rights": [...entry.rights],
    "memcell.mounted": entry.mounted,
    ...columns("memcell.reads", reads, { path: scopedPath, bytes: ({ bytes }) => bytes ?? -1 }),
    ...columns("memcell.lists", lists, {
      prefix: ({ scope, prefix }) => `${scope}/${prefix}`,
      files: ({ files }) => files,
    }),
    ...columns("memcell.stores", entry.stores ?? [], {
      id: ({ store }) => store,
      access: ({ access }) => access,
      level: ({ level }) => level ?? "",
    }),
    ...columns("memcell.granted", entry.granted ?? [], {
      id: ({ store }) => store,
      grantee: ({ grantee }) => grantee,
      level: ({ level }) => level ?? "",
    }),
    ...columns("memcell.writes", writes, sized),
    ...columns("memcell.trashed", trashed, { ...sized, trashed: (file) => `${file.scope}/${file.trashed}` }),
    ...columns("memcell.removed", removed, sized),
    "memcell.uses.not_shown": entry.usesNotShown,
    "memcell.uses.denied": entry.usesDenied,
    "memcell.uses.failed": entry.usesFailed,
    "memcell.changes": entry.changes,
    "memcell.fuel.polls": entry.fuelPolls,
    "memcell.duration_ms": entry.durationMs,
    "memcell.audit.seq": head?.seq,
    "memcell.audit.hash": head?.hash,
  };
  const present = Object.entries(known).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(present) as SpanAttributes;
}

interface NamedFile {
  readonly scope: string;
  readonly path: string;
}

const scopedPath = ({ scope, path }: NamedFile): string => `${scope}/${path}`;
const sized = { path: scopedPath, bytes: ({ bytes }: { readonly bytes: number }) => bytes };

/** One list for each property, all of the same length, because attributes cannot contain objects. */
function columns<Item>(
  name: string,
  items: readonly Item[],
  read: Readonly<Record<string, (item: Item) => string | number>>,
): SpanAttributes {
  if (items.length === 0) return {};
  const shown = items.slice(0, spanLimits.pathsMax);
  const lists = Object.entries(read).map(([key, of]) => [`${name}.${key}`, shown.map((item) => of(item))]);
  return Object.fromEntries([[`${name}.count`, items.length], ...lists]) as SpanAttributes;
}
