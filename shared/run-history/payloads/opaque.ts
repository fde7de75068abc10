/** The data of `opaque` and `snapshot`: a JSON text in a form that only its program knows. */
import { DataFields } from "../data-map.ts";
import type { DataMap, Forms } from "../data-map.ts";
import { EventFault } from "../event-fault.ts";

/** Something that a program keeps in a form of its own. */
export interface OpaqueData {
  /** Whose form it is: `openai-agents`, say. */
  readonly format: string;
  /** JSON text, kept byte for byte, of at most 8 Mi characters. */
  readonly json: string;
}

/** What all earlier events of the run amount to, in the same form: a reader can begin here. */
export type SnapshotData = OpaqueData;

/** A piece of a longer text: an event stays small enough for one line, one answer and the guest's memory. */
export interface PartData {
  /** Names the text. The event that it belongs to comes after all its parts, and has this in place of `json`. */
  readonly partOf: string;
  /** From 0. */
  readonly index: number;
  readonly text: string;
}

/** Parts of one text: with 64 Ki characters each, it takes an eighth of the 64 MiB that a user's runs may take. */
export const partsMax = 128;

/** As JSON in an input or an answer, a part takes half of what fits at most. */
export const partChars = 65_536;

export function readOpaque(type: "opaque" | "snapshot", data: unknown, forms: Forms): OpaqueData {
  const fields = new DataFields(type, data, forms);
  const [format, json, partOf] = [fields.requiredText("format"), fields.jsonText("json"), fields.text("part_of")];
  fields.text("preview");
  if (json.trim() !== "") return { format, json };
  if (partOf === "") {
    const details = { field: "json", allowed: "JSON text" };
    throw new EventFault("EVENT_FIELD_MISSING", `memory: ${type} missing "json"`, details);
  }
  const [parts, sha256] = [fields.int("parts"), fields.text("sha256")];
  const wrong = (field: string, value: unknown, allowed: string): EventFault =>
    new EventFault("EVENT_FIELD_INVALID", `memory: ${type} field "${field}" must be ${allowed}`, {
      field,
      value,
      allowed,
    });
  if (parts < 1 || parts > partsMax) throw wrong("parts", parts, `1 to ${partsMax}`);
  if (!/^[\da-f]{64}$/.test(sha256)) throw wrong("sha256", sha256, "64 hexadecimal digits");
  return { format, json };
}

export const writeOpaque = ({ format, json }: OpaqueData): DataMap => ({ format, json });

export function readPart(data: unknown, forms: Forms): PartData {
  const fields = new DataFields("part", data, forms);
  return { partOf: fields.requiredText("part_of"), index: fields.int("index"), text: fields.requiredText("text") };
}
