import { basename, delimiter, dirname, isAbsolute, join } from "node:path";

import { configLimits } from "../../shared/limits.ts";
import { nearestName } from "../../shared/nearest-name.ts";
import { UnfitJson } from "../../shared/strict-json.ts";
import { quoted } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import { isNameTaken, readBoundedFile } from "../disk/bounded-file.ts";
import { whyOthersCanWrite } from "../disk/others-can-write.ts";
import { isPluginName } from "../plugins/bundled-plugins.ts";
import { presentValue, valueAt } from "../plugins/policy/issue-text.ts";
import { parsePlacedJson, placeInJson } from "../values/json-place.ts";
import { fileVariable, findConfigFile } from "./find-config-file.ts";
import type { FoundConfig } from "./find-config-file.ts";
import { isListed, readMount } from "./setting.ts";
import { flagOf, settingAt, settingPaths, variableOf } from "./settings.ts";
import type { SettingPath, SettingValues } from "./settings.ts";
import { checkValue } from "./source.ts";
import type { Given, GivenSettings, Source } from "./source.ts";
import { UsageError } from "./usage-error.ts";
import { isUrl } from "./web-address.ts";

/** All settings with their values and sources. */
export interface Settings {
  readonly values: SettingValues;
  readonly sources: Readonly<Record<SettingPath, Source>>;
  /** The config file that was read. */
  readonly file: string | null;
}

/** The settings on a command line, not checked yet. */
export interface SettingFlags {
  /** `--config`. */
  readonly file?: string | undefined;
  readonly given: ReadonlyMap<SettingPath, string | boolean | readonly string[]>;
  /** The variables, as of the process. */
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * Reads the settings of a command. Flags override environment variables, which override the config file, which
 * overrides the defaults. Overridden values are checked too. Throws `UsageError`.
 *
 * @example
 * const { values } = await readSettings({ given: new Map([["serve.http", true]]), environment: process.env });
 * console.log(values["serve.port"]); // 7391
 */
export async function readSettings(flags: SettingFlags): Promise<Settings> {
  const found = await findConfigFile(flags);
  const config = found && (await readConfigFile(found));
  const given = [readFlags(flags), readEnvironment(flags.environment), config?.given ?? new Map<SettingPath, Given>()];
  const held = settingPaths.map((path): [SettingPath, Given] => [path, heldOf(path, given)]);
  return {
    // Each value has passed the schema that gives it its type.
    values: Object.fromEntries(held.map(([path, { value }]) => [path, value])) as unknown as SettingValues,
    sources: Object.fromEntries(held.map(([path, { source }]) => [path, source])) as Record<SettingPath, Source>,
    file: config?.file ?? null,
  };
}

function heldOf(path: SettingPath, given: readonly GivenSettings[]): Given {
  const held = given.find((each) => each.has(path))?.get(path);
  return held ?? { value: settingAt(path).default, source: { kind: "default" } };
}

function readFlags({ given }: SettingFlags): GivenSettings {
  return new Map(
    Array.from(given, ([path, said]): [SettingPath, Given] => {
      const name = `--${said === false ? "no-" : ""}${flagOf(path)}`;
      const value = typeof said === "string" ? valueOfText(path, said) : said;
      return [path, checkValue(path, value, { kind: "flag", name })];
    }),
  );
}

/**
 * Throws `UsageError` for an unknown name that begins with `MEMCELL_`, in any case. Otherwise a misspelt
 * `MEMCELL_AUDIT_LOG` would silently mean no audit log.
 */
function readEnvironment(environment: NodeJS.ProcessEnv): GivenSettings {
  const given = new Map<SettingPath, Given>();
  const paths = new Map(settingPaths.map((path) => [variableOf(path), path]));
  for (const name of Object.keys(environment).filter((each) => /^MEMCELL_/i.test(each))) {
    const path = paths.get(name);
    if (path !== undefined) {
      const source = { kind: "environment", name } as const;
      given.set(path, checkValue(path, valueOfVariable(path, environment[name] ?? ""), source));
    } else if (name !== fileVariable) {
      const nearest = nearestName(name, [...paths.keys(), fileVariable], name.slice("MEMCELL".length));
      throw new UsageError(`the environment has ${quoted(name)}: unknown setting; did you mean ${nearest}?`);
    }
  }
  return given;
}

function valueOfVariable(path: SettingPath, text: string): unknown {
  const { form } = settingAt(path);
  // File names are separated like the folders in PATH: by a colon, on Windows by a semicolon.
  return isListed(form) ? text.split(form === "texts" ? "," : delimiter) : valueOfText(path, text);
}

/** Converts a text to the config file's type. An invalid number or switch stays a text, which its schema refuses. */
function valueOfText(path: SettingPath, text: string): string | number | boolean {
  const { form } = settingAt(path);
  if (form === "number" && /^(?:0|[1-9]\d{0,15})$/.test(text)) return Number(text);
  if (form === "switch" && (text === "true" || text === "false")) return text === "true";
  return text;
}

/**
 * Settings that say whose code runs, what it may do, who reaches whose files, and who is trusted. A file that others can change must not
 * have them.
 */
const isPrivileged = (path: SettingPath): boolean =>
  ["plugins", "policy", "readOnly", "mounts", "serve.agentKeys", "serve.originClass"].includes(path) ||
  path.startsWith("serve.auth.");

/**
 * Returns `null` if the file is missing and may be. Throws `UsageError` if it cannot be read or is invalid. Messages
 * contain no folders.
 */
async function readConfigFile({
  file,
  mayBeAbsent,
}: FoundConfig): Promise<{ readonly file: string; readonly given: GivenSettings } | null> {
  const name = basename(file);
  const bytes = await readBytes(file, mayBeAbsent);
  if (bytes === null) return null;
  const { text, said } = parse(bytes, name);
  const parsed = z.safeParse(fileSchema(), said);
  if (!parsed.success) throw new UsageError(mistakeIn({ text, said, name }, parsed.error.issues[0]));
  const given = settingPaths.flatMap((path): [SettingPath, Given][] => {
    const value = valueAt(said, path.split("."));
    const source = { kind: "file", name: `${name} "${path}"` } as const;
    return value === undefined ? [] : [[path, { value: placed(path, value, file), source }]];
  });
  await refuseOthers(file, given.map(([path]) => path).find(isPrivileged));
  return { file, given: new Map(given) };
}

async function refuseOthers(file: string, privileged: SettingPath | undefined): Promise<void> {
  const reason = privileged === undefined ? null : await whyOthersCanWrite(file);
  if (reason === null) return;
  throw new UsageError(`cannot use ${quoted(basename(file))}: it has ${quoted(privileged ?? "")}, and ${reason}`);
}

async function readBytes(file: string, mayBeAbsent: boolean): Promise<Uint8Array | null> {
  const name = quoted(basename(file));
  try {
    const read = await readBoundedFile(file, configLimits.fileBytesMax);
    if (read.kind === "unfit") throw new UsageError(`cannot use ${name}: ${read.reason}`);
    return read.bytes;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    if (mayBeAbsent && code === "ENOENT" && !(await isNameTaken(file))) return null;
    throw new UsageError(`cannot use ${name}: it cannot be read (${code})`, { cause: error });
  }
}

function parse(bytes: Uint8Array, name: string): Pick<ReadFile, "text" | "said"> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { text, said: parsePlacedJson(text, configLimits.depthMax) };
  } catch (error) {
    const reason = error instanceof UnfitJson ? error.message : "is not UTF-8";
    throw new UsageError(`cannot use ${quoted(name)}: it ${reason}`, { cause: error });
  }
}

interface Group {
  [name: string]: Group | z.ZodMiniType;
}

/** The schema of the whole config file. Its messages say what is allowed. The key `$schema` is for editors. */
function fileSchema(): z.ZodMiniType {
  const root: Group = { $schema: z.optional(z.string("a text")) };
  for (const path of settingPaths) {
    const { schema, meaning, default: preset, unset } = settingAt(path);
    const description = `${sentence(meaning)}${unset === undefined ? "" : ` Without it: ${unset}.`}`;
    const names = path.split(".");
    const leaf = names.pop() ?? path;
    const described = schema().check(z.meta({ description, ...(preset !== null && { default: preset }) }));
    groupAt(root, names)[leaf] = z.optional(described);
  }
  return objectOf(root);
}

/** The same for editors, in draft 2020-12: `config.schema.json` beside this file is generated from it. */
export function configSchema(): Readonly<Record<string, unknown>> {
  const { "~standard": _, ...schema } = z.toJSONSchema(fileSchema(), { io: "input", target: "draft-2020-12" });
  return { title: "A memcell configuration", ...schema };
}

function groupAt(root: Group, names: readonly string[]): Group {
  return names.reduce<Group>((group, name) => (group[name] ??= {}) as Group, root);
}

function objectOf(group: Group): z.ZodMiniType {
  const entries = Object.entries(group).map(([name, each]) => [
    name,
    "_zod" in each ? each : z.optional(objectOf(each)),
  ]);
  return z.strictObject(Object.fromEntries(entries) as Record<string, z.ZodMiniType>, "an object");
}

function sentence(clause: string): string {
  return `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}.`;
}

/** The objects that contain settings: `serve`, `serve.auth`. */
const groups: readonly string[] = [
  ...new Set(settingPaths.flatMap((path) => path.split(".").map((_, at, names) => names.slice(0, at).join(".")))),
].filter((group) => group !== "");

interface Issue {
  readonly path: readonly PropertyKey[];
  /** What is allowed. */
  readonly message: string;
  /** The unknown keys of an object. */
  readonly keys?: readonly string[];
}

interface ReadFile {
  readonly text: string;
  readonly said: unknown;
  readonly name: string;
}

function mistakeIn({ text, said, name }: ReadFile, issue: Issue = { path: [], message: "another" }): string {
  const { path, message, keys: [key] = [] } = issue;
  const found = `(${placeInJson(text, key === undefined ? path : [...path, key])})`;
  if (key !== undefined) return `${unknownName([...path, key].join("."), key, name)} ${found}`;
  const names = path.filter((each) => typeof each === "string").join(".");
  const indexes = path.filter((each) => typeof each === "number").map((each) => `[${each}]`);
  const place =
    names === "" ? `cannot use ${quoted(name)}: it` : `${names}${indexes.join("")} (file ${name} "${names}")`;
  const isHidden = settingPaths.some((each) => each === names && settingAt(each).isHidden === true);
  return `${place} is ${isHidden ? "another value" : presentValue(valueAt(said, path))}, allowed: ${message} ${found}`;
}

function unknownName(path: string, key: string, name: string): string {
  const known = [...groups, ...settingPaths];
  if (known.includes(path)) {
    const written = path.split(".").map((each) => quoted(each));
    return `${quoted(name)} has the key ${quoted(key)}, allowed: nested objects, ${written.join(" > ")}`;
  }
  const nearest = quoted(nearestName(path, known, `.${key}`));
  return `${quoted(name)} has ${quoted(path)}: unknown setting; did you mean ${nearest}?`;
}

/** Makes a file name in the config file relative to the working directory. */
function placed(path: SettingPath, value: unknown, file: string): unknown {
  const { form } = settingAt(path);
  const beside = (name: string): string => (isAbsolute(name) ? name : join(dirname(file), name));
  const all = (place: (text: string) => string): string[] => (value as readonly string[]).map((each) => place(each));
  if (form === "files-or-names") return all((each) => (isPluginName(each) ? each : beside(each)));
  if (form === "mounts") return all((each) => mountBeside(each, beside));
  if (form === "file") return beside(value as string);
  return form === "file-or-url" && !isUrl(value as string) ? beside(value as string) : value;
}

function mountBeside(text: string, beside: (name: string) => string): string {
  const mount = readMount(text);
  return mount === null ? text : `${mount.scope}=${beside(mount.dir)}`;
}
