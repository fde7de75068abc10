import { unknownField } from "../../shared/known-fields.ts";
import type { FieldsOf, UnknownField } from "../../shared/known-fields.ts";
import { callLimits } from "../../shared/limits.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { accessLevels, isStoreId } from "../../shared/shared-scope.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import { quoted } from "../../shared/text.ts";
import { checkUserId, isUserId } from "./ids.ts";
import type { UserId } from "./ids.ts";
import { exposedToAllowed, originAllowed, readExposedTo, readOrigin, stateOrigin } from "./origin.ts";
import type { CallOrigin, StatedOrigin } from "./origin.ts";
import { ToolError, asToolError } from "./tool-error.ts";

/**
 * On whose behalf a call is made. The user comes only from here. It has no other fields: what is misspelt is
 * `INPUT_INVALID`, and facts of the program's own go into `labels`.
 */
export interface CallContext {
  /** The authenticated user: 1 to 128 bytes, no control characters, no slashes. */
  readonly userId: string;
  /**
   * Cancels the call when aborted: while it is queued, waits for the folder or for a thread, or runs. The call ends as
   * `CANCELLED` and nothing is written. If its changes are already being committed, the signal has no effect. Default:
   * the call cannot be cancelled.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * The caller's own id for the call, for example the id of a model's tool call. It is in the audit log, in the call's
   * span and in its log entries. 1 to 128 printable ASCII characters. Default: a random UUID. Guests do not get it.
   */
  readonly callId?: string | undefined;
  /**
   * The caller's own facts for the audit log, for example the model or the surface. A plain object with at most 16
   * names of 1 to 64 characters `[a-z0-9._-]`, each with a text of at most 256 printable ASCII characters. They are in
   * the call's records and in its span (`memcell.label.<name>`). Guests do not get them. Default: none.
   *
   * @example
   * const ctx = { userId: "alice", callId: toolCall.id, labels: { movement: "3", agent: "planner" } };
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Where the text of the call comes from. It is in the call's records and in its span (`memcell.origin.…`). Guests do
   * not get it. Default: the program does not say, which counts as the class `unstated`.
   *
   * @example
   * const ctx = { userId: "alice", origin: { class: "direct_user", run: "run-7", turn: "3" } };
   */
  readonly origin?: CallOrigin | undefined;
  /**
   * The classes of everything that has entered the model's context in this turn, for example `tool_external` once it
   * has read a web page. The text of the call is trusted as the least trusted of them and of `origin.class`. They are
   * recorded with `origin`. Guests do not get them. At most 16, others: `INPUT_INVALID`. Default: none.
   */
  readonly exposedTo?: readonly OriginClass[] | undefined;
  /** Shared stores that the user reaches during this call without a grant. At most 64. Default: none. */
  readonly stores?: readonly ContextStore[] | undefined;
}

const contextFields: FieldsOf<CallContext> = {
  userId: true,
  signal: true,
  callId: true,
  labels: true,
  origin: true,
  exposedTo: true,
  stores: true,
};

/** A context as the caller passed it, each property read once. Callers without types can pass anything. */
export class AskedContext {
  readonly userId: unknown;
  readonly signal: unknown;
  readonly callId: unknown;
  readonly labels: AskedLabels;
  /** `null` if there is none. A text says what is wrong with it. */
  readonly origin: CallOrigin | null | string;
  /** A text says what is wrong with them. */
  readonly exposedTo: readonly OriginClass[] | string;
  /** A text says what is wrong with them. */
  readonly stores: readonly ContextStore[] | string;
  /** A field that is none of a context: it would be ignored, and with it what the program wanted. */
  readonly other: UnknownField | null;
  /** The error thrown while it was read. */
  readonly fault: unknown;

  constructor(ctx: CallContext | null | undefined, fault?: unknown) {
    this.userId = ctx?.userId;
    this.signal = ctx?.signal;
    this.callId = ctx?.callId;
    this.labels = readLabels(ctx?.labels);
    this.origin = readOrigin(ctx?.origin);
    this.exposedTo = readExposedTo(ctx?.exposedTo);
    this.stores = readContextStores(ctx?.stores);
    this.other = typeof ctx === "object" && ctx !== null ? unknownField(ctx, contextFields) : null;
    this.fault = fault;
  }
}

export interface CheckedContext {
  readonly userId: UserId;
  readonly signal: AbortSignal | undefined;
  readonly stores: readonly ContextStore[];
  readonly origin: StatedOrigin;
}

/** Reads a context once, so that the record and the work of one or several calls are about the same user. */
export function readContext(ctx: CallContext | AskedContext | null | undefined): AskedContext {
  try {
    return ctx instanceof AskedContext ? ctx : new AskedContext(ctx);
  } catch (fault) {
    return new AskedContext(null, fault);
  }
}

/** The valid parts of a context, recorded even if the rest is invalid. Missing or invalid parts are `null`. */
export function namesIn({ userId, callId, labels, origin, exposedTo }: AskedContext): ContextNames {
  const isNamed = typeof userId === "string" && isUserId(userId);
  // With only one of the two, a record would show more trust than the program has.
  const isStated = typeof origin !== "string" && typeof exposedTo !== "string";
  return {
    callId: isCallId(callId) ? callId : null,
    userId: isNamed ? userId.normalize("NFC") : null,
    labels: labels.isValid ? labels.labels : null,
    origin: isStated ? stateOrigin(origin, exposedTo) : null,
  };
}

interface ContextNames {
  readonly callId: string | null;
  readonly userId: string | null;
  readonly labels: Labels | null;
  readonly origin: StatedOrigin | null;
}

/** Throws `USER_REQUIRED`, `USER_INVALID` or `INPUT_INVALID`. */
export function checkContext(
  { userId, signal, callId, labels, origin, exposedTo, stores, other, fault }: AskedContext,
  action = "call a tool",
): CheckedContext {
  if (fault !== undefined) throw asToolError(fault, action);
  if (other !== null) throw otherField(other, action);
  const [user, ending] = [checkUserId(userId, action), checkSignal(signal, action)];
  if (callId !== undefined && !isCallId(callId)) {
    const value = typeof callId === "string" ? quoted(callId) : typeOf(callId);
    throw wrongProperty("callId", `1 to ${callLimits.callIdCharsMax} printable ASCII characters, or nothing`, {
      action,
      value,
    });
  }
  if (!labels.isValid) throw wrongProperty("labels", labelsAllowed, { action, value: labels.value });
  if (typeof origin === "string") throw wrongProperty("origin", originAllowed, { action, value: origin });
  if (typeof exposedTo === "string") throw wrongProperty("exposedTo", exposedToAllowed, { action, value: exposedTo });
  if (typeof stores === "string") throw wrongProperty("stores", contextStoresAllowed, { action, value: stores });
  return { userId: user, signal: ending, stores, origin: stateOrigin(origin, exposedTo) };
}

function otherField({ name, nearest }: UnknownField, action: string): ToolError {
  const allowed = `only ${Object.keys(contextFields).join(", ")}; facts of your own go into ctx.labels`;
  const issues = [{ field: "ctx", value: `an object with the field ${name}`, allowed }];
  const message = `Cannot ${action}: ctx has the unknown field ${name}; did you mean ${nearest}? Expected ${allowed}`;
  return new ToolError("INPUT_INVALID", message, { issues });
}

function isCallId(callId: unknown): callId is string {
  if (typeof callId !== "string" || callId.length > callLimits.callIdCharsMax) return false;
  return /^[\x20-\x7e]+$/.test(callId);
}

function checkSignal(signal: unknown, action: string): AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return signal;
  throw wrongProperty("signal", "an AbortSignal or nothing", { action, value: typeOf(signal) });
}

const typeOf = (value: unknown): string => (value === null ? "null" : `of type ${typeof value}`);

function wrongProperty(name: string, allowed: string, { action, value }: { action: string; value: string }): ToolError {
  const issues = [{ field: `ctx.${name}`, value, allowed }];
  return new ToolError("INPUT_INVALID", `Cannot ${action}: ctx.${name} is ${value}, allowed: ${allowed}`, { issues });
}

/** A caller's own facts for the audit log, by name. */
export type Labels = Readonly<Record<string, string>>;

/** Labels as the caller passed them, read once. */
export type AskedLabels =
  | { readonly isValid: true; /** `null` if there are none. */ readonly labels: Labels | null }
  | { readonly isValid: false; /** The present value, for a message. */ readonly value: string };

const { labelsMax, labelNameCharsMax, labelValueCharsMax } = callLimits;

export const labelNamePattern: RegExp = new RegExp(`^[a-z0-9._-]{1,${labelNameCharsMax}}$`);
export const labelValuePattern: RegExp = new RegExp(`^[\\x20-\\x7e]{0,${labelValueCharsMax}}$`);

const labelsAllowed =
  `an object of at most ${labelsMax} names of 1 to ${labelNameCharsMax} characters "a-z0-9._-", ` +
  `each with a text of at most ${labelValueCharsMax} printable ASCII characters, or nothing`;

/** Copies labels; callers without types can pass anything. Reads each property once and never throws. */
function readLabels(asked: unknown): AskedLabels {
  if (asked === undefined) return { isValid: true, labels: null };
  try {
    return copyLabels(asked);
  } catch {
    return invalid("an object that cannot be read");
  }
}

function copyLabels(asked: unknown): AskedLabels {
  if (asked === null) return invalid("null");
  if (typeof asked !== "object") return invalid(`of type ${typeof asked}`);
  const prototype: unknown = Object.getPrototypeOf(asked);
  if (prototype !== Object.prototype && prototype !== null) return invalid("no plain object");
  const names = Object.keys(asked);
  if (names.length > labelsMax) return invalid(`an object of ${names.length} names`);
  const pairs: [name: string, text: string][] = [];
  for (const name of names) {
    if (!labelNamePattern.test(name)) return invalid(`an object with the name ${quoted(name)}`);
    const text: unknown = Reflect.get(asked, name);
    if (typeof text !== "string") return invalid(`an object whose "${name}" is of type ${typeof text}`);
    if (!labelValuePattern.test(text)) return invalid(`an object whose "${name}" is ${faultOf(text)}`);
    pairs.push([name, text]);
  }
  // `fromEntries` creates own properties, even for the name `__proto__`.
  return { isValid: true, labels: pairs.length === 0 ? null : Object.freeze(Object.fromEntries(pairs)) };
}

function faultOf(text: string): string {
  return text.length > labelValueCharsMax ? `${text.length} characters long` : "not printable ASCII";
}

const invalid = (value: string): AskedLabels => ({ isValid: false, value });

/**
 * A shared store that the embedding program vouches for: the call's user is in the chat, or works for the user, whose
 * store it is. The user then reaches it during this call, without a grant.
 *
 * @example
 * const ctx = { userId: agentId, stores: [{ id: chatId, kind: "chat" }, { id: storeIdOf(caller), kind: "user" }] };
 */
export interface ContextStore {
  /** A UUID in lower case. */
  readonly id: string;
  readonly kind: "chat" | "user";
  /** Default: `readwrite`. */
  readonly level?: AccessLevel | undefined;
}

const storeFields: FieldsOf<ContextStore> = { id: true, kind: true, level: true };

/** More chats and users than one call has to do with. */
const storesMax = 64;

const contextStoresAllowed =
  `at most ${storesMax} objects with an id (a UUID in lower case), a kind ("chat" or "user") and a level ` +
  '("search", "read" or "readwrite", or nothing), no id twice';

/** The stores of a context, copied; callers without types can pass anything. A text says what is wrong with them. */
function readContextStores(asked: unknown): readonly ContextStore[] | string {
  if (asked === undefined) return [];
  try {
    return copyStores(asked);
  } catch {
    return "an object that cannot be read";
  }
}

function copyStores(asked: unknown): readonly ContextStore[] | string {
  if (!Array.isArray(asked)) return asked === null ? "null" : `of type ${typeof asked}`;
  if (asked.length > storesMax) return `an array of ${asked.length} stores`;
  const stores: ContextStore[] = [];
  for (const each of asked as readonly unknown[]) {
    const unknown = typeof each === "object" && each !== null ? unknownField(each, storeFields) : null;
    if (unknown !== null) return `an array with the field ${unknown.name} (did you mean ${unknown.nearest}?)`;
    const { id, kind, level = "readwrite" } = (each ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof id !== "string" || !isStoreId(id)) return `an array with the id ${shown(id)}`;
    if (kind !== "chat" && kind !== "user") return `an array with the kind ${shown(kind)}`;
    const known = accessLevels.find((name) => name === level);
    if (known === undefined) return `an array with the level ${shown(level)}`;
    if (stores.some((other) => other.id === id)) return `an array with the id ${quoted(id)} twice`;
    stores.push({ id, kind, level: known });
  }
  return Object.freeze(stores);
}

const shown = (value: unknown): string => (typeof value === "string" ? quoted(value) : `of type ${typeof value}`);
