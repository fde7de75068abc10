/** Where the text of a call comes from: what the embedding program says, read once, and what follows from it. */
import { unknownField } from "../../shared/known-fields.ts";
import type { FieldsOf } from "../../shared/known-fields.ts";
import { isOriginClass, lowestOf, originClasses, originLimits } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { quoted } from "../../shared/text.ts";

/**
 * Where the text of a call comes from. Only the embedding program says so: no input, answer, token or header of anybody
 * else can. It is in the audit log and in the call's span. Guests do not get it. Invalid: `INPUT_INVALID`.
 *
 * @example
 * const runtime = await createRuntime({ dataDir: "data" });
 * const origin = { class: "tool_external", run: "run-7", turn: "3", source: "https://example.com/menu" } as const;
 * const ctx = { userId: "alice", origin, exposedTo: ["direct_user", "tool_external"] } as const;
 * const entry = { action: "upsert", name: "menu", type: "reference", description: "Today", body: "Soup" } as const;
 * console.log((await runtime.call("UpdateUserMemory", entry, ctx)).ok); // true
 * await runtime.close();
 */
export interface CallOrigin {
  /** Also how far it is trusted. */
  readonly class: OriginClass;
  /** The id of the agent's run: 1 to 128 printable ASCII characters. Default: none. */
  readonly run?: string | undefined;
  /** The turn within the run: 1 to 64 printable ASCII characters. Default: none. */
  readonly turn?: string | undefined;
  /** What the text was taken from, such as a URL or a file's name: 1 to 512 printable ASCII characters. Default: none. */
  readonly source?: string | undefined;
}

/** What a program has said about the origin of a call. */
export interface StatedOrigin {
  /** `unstated` if it has said none. */
  readonly class: OriginClass;
  readonly run: string | null;
  readonly turn: string | null;
  readonly source: string | null;
  /** What has entered the model's context in this turn, each class once. Empty if the program has not said. */
  readonly exposedTo: readonly OriginClass[];
  /** Whether the program has said anything: an origin, or a class in `exposedTo`. */
  readonly told: boolean;
}

/** How far the text of a call is trusted: as the least trusted of its class and all that the model was exposed to. */
export const statedTrust = ({ class: of, exposedTo }: StatedOrigin): OriginClass => lowestOf(of, ...exposedTo);

const { runCharsMax, turnCharsMax, sourceCharsMax, exposedToMax } = originLimits;

const printable = (charsMax: number): RegExp => new RegExp(`^[\\x20-\\x7e]{1,${charsMax}}$`);

/** The texts of an origin, by the names of their fields. */
export const originTexts = {
  run: { charsMax: runCharsMax, pattern: printable(runCharsMax) },
  turn: { charsMax: turnCharsMax, pattern: printable(turnCharsMax) },
  source: { charsMax: sourceCharsMax, pattern: printable(sourceCharsMax) },
} as const;

const originFields: FieldsOf<CallOrigin> = { class: true, run: true, turn: true, source: true };

const classNames = originClasses.join(", ");

export const originAllowed: string =
  `an object with a class (${classNames}) and, if known, run, turn and source (printable ASCII, 1 to ` +
  `${runCharsMax}, ${turnCharsMax} and ${sourceCharsMax} characters), or nothing`;

export const exposedToAllowed = `an array of at most ${exposedToMax} classes (${classNames}), or nothing`;

const unreadable = "an object that cannot be read";

/**
 * Copies an origin; callers without types can pass anything. Reads each property once and never throws. `null`: there is
 * none. A text says what is wrong with it.
 */
export function readOrigin(asked: unknown): CallOrigin | null | string {
  if (asked === undefined) return null;
  try {
    return copyOrigin(asked);
  } catch {
    return unreadable;
  }
}

function copyOrigin(asked: unknown): CallOrigin | string {
  if (asked === null) return "null";
  if (typeof asked !== "object") return `of type ${typeof asked}`;
  const prototype: unknown = Object.getPrototypeOf(asked);
  if (prototype !== Object.prototype && prototype !== null) return "no plain object";
  const other = unknownField(asked, originFields);
  if (other !== null) return `an object with the field ${other.name} (did you mean ${other.nearest}?)`;
  const names = Object.keys(asked);
  // Only own properties count, whatever `Object.prototype` has.
  const own = new Map(names.map((name) => [name, Reflect.get(asked, name) as unknown]));
  const of = own.get("class");
  if (of === undefined) return "an object without a class";
  if (!isOriginClass(of)) return `an object with the class ${shown(of)}`;
  const texts: [name: string, text: string][] = [];
  for (const [name, { charsMax, pattern }] of Object.entries(originTexts)) {
    const text = own.get(name);
    if (text === undefined) continue;
    if (typeof text !== "string") return `an object whose "${name}" is of type ${typeof text}`;
    if (!pattern.test(text)) return `an object whose "${name}" is ${faultOf(text, charsMax)}`;
    texts.push([name, text]);
  }
  return Object.freeze({ class: of, ...Object.fromEntries(texts) });
}

/** Copies classes as `readOrigin` does an origin. Each is there once, in the order in which they were passed. */
export function readExposedTo(asked: unknown): readonly OriginClass[] | string {
  if (asked === undefined) return none;
  try {
    return copyClasses(asked);
  } catch {
    return unreadable;
  }
}

const none: readonly OriginClass[] = Object.freeze([]);

function copyClasses(asked: unknown): readonly OriginClass[] | string {
  if (!Array.isArray(asked)) return asked === null ? "null" : `of type ${typeof asked}`;
  const { length } = asked;
  // A proxy can give any length, also one that is not a number.
  if (!(length >= 0 && length <= exposedToMax)) return `an array of ${length} classes`;
  const classes = new Set<OriginClass>();
  for (let at = 0; at < length; at++) {
    const each: unknown = asked[at];
    if (!isOriginClass(each)) return `an array with the class ${shown(each)}`;
    classes.add(each);
  }
  return Object.freeze([...classes]);
}

function shown(value: unknown): string {
  if (value === null) return "null";
  return typeof value === "string" ? quoted(value) : `of type ${typeof value}`;
}

function faultOf(text: string, charsMax: number): string {
  if (text === "") return "empty";
  return text.length > charsMax ? `${text.length} characters long` : "not printable ASCII";
}

/** Joins what was read. */
export function stateOrigin(origin: CallOrigin | null, exposedTo: readonly OriginClass[]): StatedOrigin {
  if (origin === null && exposedTo.length === 0) return untold;
  // An origin without a field must not get it from what `Object.prototype` has.
  const { class: of, run = null, turn = null, source = null } = { ...untold, ...origin };
  return Object.freeze({ class: of, run, turn, source, exposedTo, told: true });
}

const untold: StatedOrigin = Object.freeze({
  class: "unstated",
  run: null,
  turn: null,
  source: null,
  exposedTo: none,
  told: false,
});

/** A stated origin as a program would pass it: for calls that one operation makes, and for records. */
export interface ToldOrigin {
  readonly origin?: CallOrigin;
  readonly exposedTo?: readonly OriginClass[];
}

export function asTold({ class: of, run, turn, source, exposedTo, told }: StatedOrigin): ToldOrigin {
  if (!told) return {};
  const texts = { ...(run !== null && { run }), ...(turn !== null && { turn }), ...(source !== null && { source }) };
  return { origin: { class: of, ...texts }, exposedTo };
}
