import * as z from "../../shared/zod.ts";
import { presentValue, valueAt } from "../plugins/policy/issue-text.ts";
import { settingAt } from "./settings.ts";
import type { SettingPath } from "./settings.ts";
import { sourceText } from "./source.ts";
import type { Source } from "./source.ts";
import { UsageError } from "./usage-error.ts";

/** What somebody has said of a setting, checked. */
export interface Given {
  readonly value: unknown;
  readonly source: Source;
}

/** Settings that one source speaks of. */
export type GivenSettings = ReadonlyMap<SettingPath, Given>;

/** Throws `UsageError` for what the setting may not be. */
export function checkValue(path: SettingPath, value: unknown, source: Source): Given {
  const parsed = z.safeParse(settingAt(path).schema(), value);
  if (parsed.success) return { value: parsed.data, source };
  const [issue] = parsed.error.issues;
  const at = issue?.path ?? [];
  const place = `${path}${at.map((index) => `[${String(index)}]`).join("")}`;
  throw new UsageError(
    `${place} (${sourceText(source)}) is ${presentValue(valueAt(value, at))}, allowed: ${issue?.message ?? "another"}`,
  );
}

/** The text of a variable or a flag as the config file would have it; what is none stays a text, which no schema takes. */
export function valueOfText(path: SettingPath, text: string): string | number | boolean {
  const { form } = settingAt(path);
  if (form === "number" && /^(?:0|[1-9]\d{0,15})$/.test(text)) return Number(text);
  if (form === "switch" && (text === "true" || text === "false")) return text === "true";
  return text;
}
