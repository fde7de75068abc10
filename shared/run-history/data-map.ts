import { isNumeric, wholeOf } from "../numeric.ts";
/** Reads the fields of an event's data by goa-ai's rules. Numbers can be `number`, `bigint` or `LosslessNumber`. */
import { EventFault } from "./event-fault.ts";
import type { StoredType } from "./event-types.ts";

export type DataMap = Readonly<Record<string, unknown>>;

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n } as const;

/** How a reader turns the older forms of fields into the present ones. */
export interface Forms {
  /** The JSON text of a value that should have been JSON text already. */
  writeJson(value: unknown): string;
  /** The bytes of a text in standard base64, or `null` if it is not that. */
  readBase64(text: string): Uint8Array | null;
  /** Bytes that should have been base64 already. */
  readBytes(bytes: Uint8Array): Uint8Array;
}

export class DataFields {
  readonly #type: StoredType;
  readonly #data: DataMap;
  readonly #forms: Forms;
  readonly #place: string;

  /** `place`: the field that has this data, with a dot, or nothing for an event's own data. */
  constructor(type: StoredType, data: unknown, forms: Forms, place: "" | `${string}.` = "") {
    if (data === null || data === undefined) throw new EventFault("EVENT_DATA_NIL", `memory: ${type} data is nil`);
    if (!isMap(data)) {
      throw new EventFault("EVENT_DATA_NOT_MAP", `memory: ${type} data must be map[string]any, got ${goTypeOf(data)}`, {
        value: data,
        allowed: "a JSON object",
      });
    }
    this.#type = type;
    this.#data = data;
    this.#forms = forms;
    this.#place = place;
  }

  /** A text that must be there, but can be empty. */
  requiredText(key: string): string {
    if (!Object.hasOwn(this.#data, key)) {
      throw new EventFault("EVENT_FIELD_MISSING", `memory: ${this.#type} missing "${key}"`, {
        field: this.#place + key,
        allowed: "a string",
      });
    }
    return this.#text(key, this.#data[key]);
  }

  text(key: string): string {
    const value = this.#own(key);
    return value === null ? "" : this.#text(key, value);
  }

  /** JSON text; an older form has the value itself. Empty if there is none. */
  jsonText(key: string): string {
    const value = this.#own(key);
    if (value === null || typeof value === "string") return value ?? "";
    return this.#forms.writeJson(value);
  }

  /** Any JSON value, or `undefined`. */
  value(key: string): unknown {
    return this.#own(key) ?? undefined;
  }

  /** A JSON object, or `undefined`. */
  map(key: string): DataMap | undefined {
    const value = this.#own(key);
    if (value === null) return undefined;
    if (isMap(value)) return value;
    throw this.#wrong(key, value, { form: "map[string]any", allowed: "a JSON object" });
  }

  /** A list of texts, empty if there is none. */
  texts(key: string): string[] {
    const value = this.#own(key);
    if (value === null) return [];
    if (Array.isArray(value) && value.every((each) => typeof each === "string")) return [...value];
    throw this.#wrong(key, value, { form: "[]string", allowed: "a list of strings" });
  }

  flag(key: string): boolean {
    const value = this.#own(key);
    if (value === null) return false;
    if (typeof value === "boolean") return value;
    throw this.#wrong(key, value, { form: "bool", allowed: "true or false" });
  }

  /** A whole number; a fraction is dropped. */
  int(key: string): number {
    const value = this.#own(key);
    if (value === null) return 0;
    const whole = isNumeric(value) ? wholeOf(value) : null;
    if (whole !== null && Number.isSafeInteger(Number(whole))) return Number(whole);
    throw this.#wrong(key, value, { form: "int-compatible", allowed: "a whole number up to 2^53 - 1" });
  }

  /** Nanoseconds. */
  duration(key: string): bigint {
    const value = this.#own(key);
    if (value === null) return 0n;
    const whole = isNumeric(value) ? wholeOf(value) : null;
    if (whole !== null && whole >= int64.min && whole <= int64.max) return whole;
    throw this.#fieldFault(key, value, {
      clause: `must be duration-compatible, got ${goTypeOf(value)}`,
      allowed: "nanoseconds as a whole number of 64 bits",
    });
  }

  /** Base64 text; an older form has the bytes themselves. */
  bytes(key: string): Uint8Array {
    const value = this.#own(key);
    if (value === null) return new Uint8Array();
    const raw = typeof value === "string" ? null : rawBytes(value);
    const bytes = typeof value === "string" ? this.#forms.readBase64(value) : raw && this.#forms.readBytes(raw);
    if (bytes !== null) return bytes;
    const clause =
      typeof value === "string" ? "must be base64, got invalid string" : `must be string, got ${goTypeOf(value)}`;
    throw this.#fieldFault(key, value, { clause, allowed: "standard base64 with padding" });
  }

  /** Absent counts as `null`. */
  #own(key: string): unknown {
    return Object.hasOwn(this.#data, key) ? (this.#data[key] ?? null) : null;
  }

  #text(key: string, value: unknown): string {
    if (typeof value === "string") return value;
    throw this.#wrong(key, value, { form: "string", allowed: "a string" });
  }

  #wrong(key: string, value: unknown, { form, allowed }: { form: string; allowed: string }): EventFault {
    return this.#fieldFault(key, value, { clause: `must be ${form}, got ${goTypeOf(value)}`, allowed });
  }

  #fieldFault(key: string, value: unknown, { clause, allowed }: { clause: string; allowed: string }): EventFault {
    const message = `memory: ${this.#type} field "${key}" ${clause}`;
    return new EventFault("EVENT_FIELD_INVALID", message, { field: this.#place + key, value, allowed });
  }
}

/** A plain object, of this realm or another one. */
export function isMap(value: unknown): value is DataMap {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function rawBytes(value: unknown): Uint8Array | null {
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  if (!Array.isArray(value)) return null;
  const bytes = value.map((each) => (isNumeric(each) ? Number(String(each)) : -1));
  return bytes.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255) ? Uint8Array.from(bytes) : null;
}

/** The name of a value's type: as Go prints it if it is one of JSON. */
function goTypeOf(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (isNumeric(value)) return "float64";
  if (value instanceof Uint8Array) return "[]uint8";
  if (Array.isArray(value)) return "[]interface {}";
  if (isMap(value)) return "map[string]interface {}";
  return typeof value === "object" ? value.constructor.name : typeof value;
}
