import { quoted } from "../../shared/text.ts";
import { checkValue, valueOfText } from "./check-value.ts";
import type { Given, GivenSettings } from "./check-value.ts";
import { fileVariable, ourVariables } from "./environment-names.ts";
import { listedFiles } from "./file-places.ts";
import { nearestName } from "./nearest-name.ts";
import { settingAt, settingPaths, variableOf } from "./settings.ts";
import type { SettingPath } from "./settings.ts";
import { UsageError } from "./usage-error.ts";

/**
 * What the environment says. Throws `UsageError` for a name that begins with `MEMCELL_` and is none of ours: who has
 * misspelt `MEMCELL_AUDIT_LOG` must not go without a log.
 */
export function readEnvironment(environment: NodeJS.ProcessEnv): GivenSettings {
  const given = new Map<SettingPath, Given>();
  const paths = new Map(settingPaths.map((path) => [variableOf(path), path]));
  for (const name of ourVariables(environment)) {
    const path = paths.get(name);
    if (path !== undefined) {
      const source = { kind: "environment", name } as const;
      given.set(path, checkValue(path, valueOf(path, environment[name] ?? ""), source));
    } else if (name !== fileVariable) {
      const nearest = nearestName(name, name.slice("MEMCELL".length), [...paths.keys(), fileVariable]);
      throw new UsageError(`the environment has ${quoted(name)}, which is no setting; the nearest is ${nearest}`);
    }
  }
  return given;
}

function valueOf(path: SettingPath, text: string): unknown {
  const { form } = settingAt(path);
  if (form === "texts") return text.split(",");
  return form === "files-or-names" || form === "mounts" ? listedFiles(text) : valueOfText(path, text);
}
