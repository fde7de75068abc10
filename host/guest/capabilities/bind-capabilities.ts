/**
 * The capabilities, bound to one call. Each takes a text, returns a text and never throws.
 *
 * A request that the grant does not cover is answered with `CAPABILITY_DENIED` and recorded; then the whole call fails,
 * whatever the guest answers afterwards.
 */
import { abiOf, capabilityNames, capabilityRights, requestSchemas } from "../../../shared/abi.ts";
import type { CapabilityName, CapabilityRequest } from "../../../shared/abi.ts";
import type { Failure } from "../../../shared/envelope.ts";
import type { ErrorCode } from "../../../shared/errors.ts";
import { auditLimits, callLimits } from "../../../shared/limits.ts";
import { safeParse } from "../../../shared/zod.ts";
import { CapabilityTrail, newTrail } from "../../audit/collect/trail.ts";
import type { Named } from "../../audit/collect/trail.ts";
import type { UserReader } from "../../store/reading.ts";
import { NoUtf8 } from "../../store/reading.ts";
import { asToolError } from "../../values/tool-error.ts";
import type { ToolError } from "../../values/tool-error.ts";
import { envelopeOf } from "../../values/tool-result.ts";
import { parseJson } from "../guest-json.ts";
import { denied, StoredFiles } from "./guest-call.ts";
import type { GuestCall } from "./guest-call.ts";
import { Undecided } from "./reached-stores.ts";
import type { ReachedStores } from "./reached-stores.ts";
import { storeList, storeRead, storeTrash, storeWrite } from "./store-capabilities.ts";

/** What the host records about a call's capability uses. */
export interface CapabilityRecord {
  /** The first denial; the call fails with it. */
  denial: Failure | null;
  /** The codes that the guest received, and may therefore report as its own. */
  readonly reported: Set<ErrorCode>;
  /** Failures of the disk and the runtime that have a cause: for the operator, never for the guest. */
  readonly causes: ToolError[];
}

export type BoundCapabilities = Record<CapabilityName, (request: string) => string>;

/** `GuestCall` before it is completed here: with the plain reader as its store, and without a trail. */
export type CallParts = Omit<GuestCall, "store" | "trail" | "reached"> & {
  readonly store: UserReader;
  readonly reached?: ReachedStores | undefined;
};

/** The default `trail` is for callers that do not read it. */
export function bindCapabilities(
  parts: CallParts,
  record: CapabilityRecord,
  trail: CapabilityTrail = new CapabilityTrail(newTrail()),
): BoundCapabilities {
  const call: GuestCall = { ...parts, reached: parts.reached ?? null, trail, store: new StoredFiles(parts.store) };
  let hostCalls = 0;
  const bound = capabilityNames.map((name) => [
    name,
    (request: string) => answer(name, { request, record, trail }, () => perform(name, call, request, ++hostCalls)),
  ]);
  return Object.fromEntries(bound) as BoundCapabilities;
}

interface Asked {
  readonly request: string;
  readonly record: CapabilityRecord;
  readonly trail: CapabilityTrail;
}

/** Checks the trail before the work and again after the use is recorded: an unrecorded use must not get an answer. */
function answer(name: CapabilityName, { request, record, trail }: Asked, work: () => unknown): string {
  if (trail.isClosed) return tooLate(name);
  let reply: unknown;
  try {
    reply = work();
  } catch (thrown) {
    const error = asToolError(thrown, name);
    // The call is run again with a decision, so this one never counts.
    if (!(error instanceof Undecided)) {
      remember(error, record);
      trail.refuse(name, error.tableCode, () => namedIn(request));
    }
    reply = error instanceof NoUtf8 ? { ...envelopeOf(error), readable: error.readable } : envelopeOf(error);
  }
  return trail.isClosed ? tooLate(name) : JSON.stringify(reply);
}

const tooLate = (name: CapabilityName): string =>
  JSON.stringify(envelopeOf(denied(`Cannot call ${name}: the call has ended`)));

/** The scope and the path in a refused request, each cut to what a record shows. */
function namedIn(request: string): Named {
  let value: unknown;
  try {
    value = JSON.parse(request);
  } catch {
    value = null;
  }
  if (typeof value !== "object" || value === null) return { scope: null, path: null };
  const shown = (key: string): string | null => {
    const name: unknown = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : null;
    return typeof name === "string" ? name.slice(0, auditLimits.namedCharsMax) : null;
  };
  return { scope: shown("scope"), path: shown("path") ?? shown("prefix") };
}

function remember(error: ToolError, record: CapabilityRecord): void {
  if (error.code === "CAPABILITY_DENIED") record.denial ??= envelopeOf(error).error;
  record.reported.add(error.tableCode);
  const isNews = error.blame === "host" && error.cause !== undefined && record.causes.length < callLimits.causesMax;
  if (isNews) record.causes.push(error);
}

/** `hostCalls` includes this request. */
function perform(name: CapabilityName, call: GuestCall, request: string, hostCalls: number): unknown {
  const { hostCalls: hostCallsMax } = call.grant.limits;
  if (hostCalls > hostCallsMax) {
    throw denied(`Cannot call ${name}: this call has made ${hostCallsMax} requests, the maximum`);
  }
  const right = capabilityRights[name];
  if (!call.grant.rights.includes(right)) throw denied(`Cannot call ${name}: this call is not granted "${right}"`);
  const value = parseRequest(name, request);
  switch (name) {
    case "store_read":
      return storeRead(call, checked("store_read", value));
    case "store_list":
      return storeList(call, checked("store_list", value));
    case "store_write":
      return storeWrite(call, checked("store_write", value));
    case "store_trash":
      return storeTrash(call, checked("store_trash", value));
    case "clock_now":
      checked("clock_now", value);
      // Constant during a call, so a guest cannot measure time with it.
      return { ok: true, epochMs: call.epochMs };
    case "grant_list":
      return reachedBy(call).list(checked("grant_list", value));
    case "grant_set":
      return reachedBy(call).set(checked("grant_set", value));
  }
}

/** Only a tool with the scope `store:*` has these rights: the host refuses any other plugin. */
function reachedBy({ reached }: GuestCall): ReachedStores {
  if (reached === null) throw denied("Cannot use grants: this call has no access to shared stores");
  return reached;
}

function parseRequest(name: CapabilityName, request: string): unknown {
  const value = parseJson(request);
  if (value === undefined) throw denied(`Cannot call ${name}: the request is not JSON`);
  return value;
}

function checked<Name extends CapabilityName>(name: Name, value: unknown): CapabilityRequest<Name> {
  const parsed = safeParse(requestSchemas[name], value);
  if (!parsed.success)
    throw denied(`Cannot call ${name}: the request does not have the form of ABI version ${abiOf(name)}`);
  return parsed.data as CapabilityRequest<Name>;
}
