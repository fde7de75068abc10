/** The file with a store's grants, `.memcell/grants.json`. Only the host writes it. */
import { sharingLimits } from "../../shared/limits.ts";
import { accessLevels } from "../../shared/shared-scope.ts";
import { parseStrictJson } from "../../shared/strict-json.ts";
import * as z from "../../shared/zod.ts";
import type { HeldHome } from "../store/held-homes.ts";
import type { StoreGrant } from "../values/store-grant.ts";
import { isStoreId } from "../values/store-id.ts";
import type { StoreId } from "../values/store-id.ts";
import { ToolError } from "../values/tool-error.ts";

const storeId = z.string().check(z.refine((text) => isStoreId(text))) as unknown as z.ZodMiniType<StoreId>;
const time = z.int().check(z.nonnegative());

const fileSchema = z.strictObject({
  version: z.literal(1),
  grants: z
    .array(
      z.strictObject({
        grantee: storeId,
        level: z.enum(accessLevels),
        grantedMs: time,
        expiresMs: z.nullable(time),
      }),
    )
    .check(z.maxLength(sharingLimits.grantsMax)),
});

/**
 * The grants in a file's bytes; none if there is no file. Throws `STORAGE_UNSAFE` for a file that no host has written:
 * then nobody but the owner reaches the store.
 */
export function readGrants(bytes: Uint8Array | null): readonly StoreGrant[] {
  if (bytes === null) return [];
  const parsed = z.safeParse(fileSchema, valueIn(bytes));
  const grantees = new Set(parsed.data?.grants.map(({ grantee }) => grantee));
  if (!parsed.success || grantees.size < parsed.data.grants.length) throw damaged();
  return parsed.data.grants;
}

/** The grants of a held store. Throws as `readGrants`. */
export const grantsIn = async (held: HeldHome): Promise<readonly StoreGrant[]> => readGrants(await held.grants());

export function writeGrants(grants: readonly StoreGrant[]): string {
  return `${JSON.stringify({ version: 1, grants }, null, 2)}\n`;
}

function valueIn(bytes: Uint8Array): unknown {
  try {
    return parseStrictJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), jsonDepthMax);
  } catch {
    throw damaged();
  }
}

const jsonDepthMax = 3;

const damaged = (): ToolError =>
  new ToolError("STORAGE_UNSAFE", "Cannot use the store: the file with its grants is not what a host writes");
