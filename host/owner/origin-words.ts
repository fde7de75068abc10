/** Where a text comes from, in a person's words: "from a web page (example.com), not approved". */
import { isAtLeast } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import type { VersionKind } from "../store/versions/version.ts";

export interface ToldOrigin {
  readonly class: OriginClass;
  readonly trust: OriginClass;
  readonly kind?: VersionKind | undefined;
  /** As the program has named it. */
  readonly source?: string | null | undefined;
}

export function originWords(origin: ToldOrigin): string {
  return [fromWords(origin), ...doubts(origin)].join(", ");
}

function fromWords({ class: of, source, kind }: ToldOrigin): string {
  const named = source ?? null;
  switch (of) {
    case "owner_edit":
      return kind === "edited" || kind === "put back" ? "edited by hand" : "by you";
    case "direct_user":
      return "told by you";
    case "model_inference":
      return "concluded by an agent";
    case "tool_internal":
      return named === null ? "from a tool" : `from ${named}`;
    case "unstated":
      return kind === "imported" ? "imported" : "saved by an agent";
    case "tool_external":
      return named === null ? "from outside" : isWebAddress(named) ? `from the web page ${named}` : `from ${named}`;
    case "untrusted_document":
      return named === null ? "from a document" : `from the document ${named}`;
  }
}

/** What speaks for or against it, beside where it comes from. */
function doubts({ class: of, trust, kind }: ToldOrigin): string[] {
  if (kind === "approved" && of !== "owner_edit") return ["approved"];
  if (isAtLeast(trust, "unstated")) return [];
  return isAtLeast(of, "unstated") ? ["after reading text from outside", "not approved"] : ["not approved"];
}

const isWebAddress = (source: string): boolean => /^https?:\/\//i.test(source);
