/** The id of a note in every tier of its clients: the same agent, namespace and key always have the same one. */
import { createHash } from "node:crypto";

/** The namespace of UUIDs made from URLs, RFC 9562 section 6.6. */
const urlNamespace = Buffer.from("6ba7b8119dad11d180b400c04fd430c8", "hex");

/** Where a note lies in an agent's memory. */
export interface NotePlace {
  readonly namespace: string;
  readonly key: string;
}

/** A UUID of version 5. `agent` is the id that the client uses for itself. */
export function noteIdFor(agent: string, { namespace, key }: NotePlace): string {
  const name = `${agent}\n${namespace}\n${key}`;
  const bytes = createHash("sha1").update(urlNamespace).update(name, "utf8").digest().subarray(0, 16);
  bytes[6] = 0x50 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
