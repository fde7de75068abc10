/**
 * Where the text of a client's calls comes from. The operator or a verified token says which class a client has at most.
 * What the client says of itself can only lower that.
 */
import { createHash } from "node:crypto";

import { lowestOf, originClasses, originLimits } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import { readExposedTo, readOrigin } from "../../values/origin.ts";
import type { ToldOrigin } from "../../values/origin.ts";
import { ToolError } from "../../values/tool-error.ts";

/** What is known of a client without asking it. */
export interface KnownClient {
  /** The highest class that its calls can have. */
  readonly originClass: OriginClass;
  /** Its id, from a verified token or key; `null` if nothing verified names it. */
  readonly client: string | null;
  /** A name for its connection; `null` if each of its requests stands alone. */
  readonly connection: string | null;
  /** The run of all its calls, if the embedding program says so. */
  readonly run?: string | undefined;
  /** What the embedding program says that it has been exposed to. */
  readonly exposedTo?: readonly OriginClass[];
}

/** The key of `_meta` with which a client says where the text of a request comes from. All fields are optional. */
export const originMetaKey = "memcell/origin";

/** The origin of a request's calls; `meta` is the request's `_meta`. Throws `INPUT_INVALID` for an unfit statement. */
export function originOfRequest(known: KnownClient, meta: object = {}): ToldOrigin {
  const stated = Object.hasOwn(meta, originMetaKey) ? Reflect.get(meta, originMetaKey) : undefined;
  const { exposedTo: askedClasses, ...rest } = isRecord(stated) ? stated : {};
  const origin = readOrigin(isRecord(stated) ? { class: known.originClass, ...rest } : stated);
  if (typeof origin === "string") throw unfit(origin);
  const exposedTo = readExposedTo(askedClasses);
  if (typeof exposedTo === "string") throw unfit(`an object whose "exposedTo" is ${exposedTo}`);
  const { class: asked = known.originClass, run, ...texts } = origin ?? {};
  const seen = [...new Set([...(known.exposedTo ?? []), ...exposedTo])];
  return { origin: { ...texts, class: lowestOf(known.originClass, asked), run: runOf(known, run) }, exposedTo: seen };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const { runCharsMax, turnCharsMax, sourceCharsMax, exposedToMax } = originLimits;

const allowed =
  `an object with any of class (${originClasses.join(", ")}), exposedTo (at most ${exposedToMax} classes), ` +
  `run, turn and source (printable ASCII, 1 to ${runCharsMax}, ${turnCharsMax} and ${sourceCharsMax} characters)`;

function unfit(value: string): ToolError {
  const field = `_meta["${originMetaKey}"]`;
  const issues = [{ field, value, allowed }];
  return new ToolError("INPUT_INVALID", `Cannot call a tool: ${field} is ${value}, allowed: ${allowed}`, { issues });
}

/**
 * The id of a run. It begins with a name that other clients do not get, so that clients that count their runs from 1 do
 * not share them. Without a stated run, a connection is one.
 */
function runOf(known: KnownClient, stated: string | undefined): string {
  if (known.run !== undefined) return known.run;
  if (stated === undefined) return connectionName(known) ?? clientName(known) ?? nobody;
  const prefix = `${clientName(known) ?? connectionName(known) ?? nobody}.`;
  return prefix + (prefix.length + stated.length <= runCharsMax ? stated : hashOf(stated));
}

/** All clients without a connection that nothing verified names. */
const nobody = "client-unknown";

const connectionName = ({ connection }: KnownClient): string | null =>
  connection && `session-${hashOf(connection).slice(0, 16)}`;

const clientName = ({ client }: KnownClient): string | null =>
  client === null ? null : `client-${hashOf(client).slice(0, 16)}`;

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
