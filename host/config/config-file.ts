/** The config file: understood whole, or not at all. */
import { configLimits } from "../../shared/limits.ts";
import { parseStrictJson, UnfitJson } from "../../shared/strict-json.ts";
import { quoted } from "../../shared/text.ts";
import { isPluginName } from "../plugins/bundled-plugins.ts";
import { presentValue } from "../plugins/policy/issue-text.ts";
import { checkValue } from "./check-value.ts";
import type { Given, GivenSettings } from "./check-value.ts";
import type { ConfigText } from "./config-text.ts";
import { placeBeside, shownName } from "./file-places.ts";
import { mountText, readMount } from "./mount-text.ts";
import { nearestName } from "./nearest-name.ts";
import { isSettingPath, settingAt, settingPaths } from "./settings.ts";
import type { SettingPath } from "./settings.ts";
import { UsageError } from "./usage-error.ts";
import { isUrl } from "./web-address.ts";

/** What a config file says. Throws `UsageError` for what none may say. */
export function readConfigFile({ file, text }: ConfigText): GivenSettings {
  const name = shownName(file);
  const given = new Map<SettingPath, Given>();
  for (const [path, value] of leaves(parse(text, name), "", name)) {
    const checked = checkValue(path, value, { kind: "file", name: `${name} "${path}"` });
    given.set(path, { ...checked, value: placed(path, checked.value, file) });
  }
  return given;
}

function parse(text: string, name: string): object {
  try {
    return asObject(parseStrictJson(text, configLimits.depthMax), `cannot use ${quoted(name)}: it`);
  } catch (error) {
    if (!(error instanceof UnfitJson)) throw error;
    throw new UsageError(`cannot use ${quoted(name)}: it ${error.message}`, { cause: error });
  }
}

function asObject(value: unknown, what: string): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new UsageError(`${what} is ${presentValue(value)}, allowed: an object`);
}

/** The settings of an object of the file, and of those in it. `$schema` is for editors. */
function* leaves(object: object, prefix: string, name: string): Generator<[SettingPath, unknown]> {
  for (const [key, value] of Object.entries(object) as [string, unknown][]) {
    const path = `${prefix}${key}`;
    if (isSettingPath(path) && !key.includes(".")) yield [path, value];
    else if (groups.includes(path) && !key.includes(".")) {
      yield* leaves(asObject(value, `${path} (file ${name})`), `${path}.`, name);
    } else if (isSettingPath(path) || groups.includes(path)) {
      const written = path.split(".").map((each) => quoted(each));
      throw new UsageError(
        `${quoted(name)} has the one name ${quoted(key)}, allowed: objects in each other, ${written.join(" > ")}`,
      );
    } else if (path !== "$schema") {
      throw new UsageError(
        `${quoted(name)} has ${quoted(path)}, which is no setting; the nearest is ${quoted(nearestName(path, `.${key}`, [...groups, ...settingPaths]))}`,
      );
    } else if (typeof value !== "string") {
      throw new UsageError(`$schema (file ${name}) is ${presentValue(value)}, allowed: a text`);
    }
  }
}

/** What holds settings and is none: `serve`, `serve.auth`. */
const groups: readonly string[] = [
  ...new Set(settingPaths.flatMap((path) => path.split(".").map((_, at, names) => names.slice(0, at).join(".")))),
].filter((group) => group !== "");

/** Names of files as the present folder has them. */
function placed(path: SettingPath, value: unknown, file: string): unknown {
  const { form } = settingAt(path);
  if (form === "files-or-names") {
    return (value as readonly string[]).map((each) => (isPluginName(each) ? each : placeBeside(file, each)));
  }
  if (form === "mounts") return (value as readonly string[]).map((each) => mountBeside(file, each));
  if (form === "file") return placeBeside(file, value as string);
  return form === "file-or-url" && !isUrl(value as string) ? placeBeside(file, value as string) : value;
}

function mountBeside(file: string, text: string): string {
  const mount = readMount(text);
  return mount === null ? text : mountText({ ...mount, dir: placeBeside(file, mount.dir) });
}
