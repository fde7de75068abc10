/** Where a text comes from, in a person's words: "from a web page (example.com), not approved". */
import { isAtLeast } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { isOfOwner } from "../store/versions/version.ts";
import type { VersionKind } from "../store/versions/version.ts";

export interface ToldOrigin {
  readonly class: OriginClass;
  readonly trust: OriginClass;
  readonly kind?: VersionKind | undefined;
  /** As the program has named it. */
  readonly source?: string | null | undefined;
}

/** What speaks against it comes first: a terminal can cut the rest. */
export function originWords(origin: ToldOrigin): string {
  const { class: of, trust } = origin;
  const from = fromWords(origin);
  if (isAtLeast(trust, "unstated")) return isApproved(origin) ? `${from}, ${origin.kind}` : from;
  return `not approved: ${from}${isAtLeast(of, "unstated") ? ", after reading text from outside" : ""}`;
}

/** A suggestion, approved or corrected. What the owner edits or confirms is the owner's own. */
const isApproved = ({ kind, class: of }: ToldOrigin): boolean => isOfOwner(kind) && of !== "owner_edit";

function fromWords({ class: of, source, kind }: ToldOrigin): string {
  if (kind === "imported") return "imported";
  if (kind === "restored" || kind === "undone") return "put back by you";
  const named = source ? shownSource(source) : null;
  switch (of) {
    case "owner_edit":
      return kind === "edited" || kind === "put back" ? "edited by hand" : "by you";
    case "direct_user":
      return "told by you";
    case "model_inference":
      return "worked out by an assistant";
    case "tool_internal":
      return named === null ? "from a tool" : `from ${named}`;
    case "unstated":
      return "saved by an assistant";
    case "tool_external":
      return named === null ? "from outside" : `from ${named}`;
    case "untrusted_document":
      return named === null ? "from a document" : `from ${named}`;
  }
}

/** The host of a web page, or as much of another name as fits a line. Others have chosen both. */
function shownSource(source: string): string {
  const [, host] = /^https?:\/\/([^/?#]+)/i.exec(source) ?? [];
  const shown = (host ?? source).slice(0, sourceCharsMax).toWellFormed();
  const whole = shown === (host ?? source) ? shown : `${shown}…`;
  return host === undefined ? whole : `a web page (${whole})`;
}

const sourceCharsMax = 32;
