/** Checks the value that a source gives to a setting. */
import * as z from "../../shared/zod.ts";
import { presentValue, valueAt } from "../plugins/policy/issue-text.ts";
import { settingAt } from "./settings.ts";
import type { SettingPath } from "./settings.ts";
import { UsageError } from "./usage-error.ts";

/** Where a setting's value comes from. For the config file, `name` includes the setting's path. */
export type Source =
  | { readonly kind: "default" }
  | { readonly kind: "file" | "environment" | "flag"; readonly name: string };

export function sourceText(source: Source): string {
  return source.kind === "default" ? "default" : `${source.kind} ${source.name}`;
}

export interface Given {
  readonly value: unknown;
  readonly source: Source;
}

/** The settings that one source gives. */
export type GivenSettings = ReadonlyMap<SettingPath, Given>;

/** Throws `UsageError` for a value that the setting does not allow. */
export function checkValue(path: SettingPath, value: unknown, source: Source): Given {
  const parsed = z.safeParse(settingAt(path).schema(), value);
  if (parsed.success) return { value: parsed.data, source };
  const [issue] = parsed.error.issues;
  const at = issue?.path ?? [];
  const place = `${path}${at.map((index) => `[${String(index)}]`).join("")}`;
  const present = settingAt(path).isHidden === true ? "another value" : presentValue(valueAt(value, at));
  throw new UsageError(`${place} (${sourceText(source)}) is ${present}, allowed: ${issue?.message ?? "another"}`);
}
