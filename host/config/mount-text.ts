import { configLimits } from "../../shared/limits.ts";
import { scopeName } from "../../shared/path.ts";
import { hasLoneSurrogate, hasNul } from "../../shared/text.ts";

/** `journal=notes/memory`: the scope, and the folder that stands for it. */
export interface MountText {
  readonly scope: string;
  readonly dir: string;
}

/** `null` for what is none. A folder's name may hold more of `=`; a scope's holds none. */
export function readMount(text: string): MountText | null {
  const at = text.indexOf("=");
  const [scope, dir] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  const isFolder =
    dir.length > 0 && dir.length <= configLimits.fileNameCharsMax && !hasNul(dir) && !hasLoneSurrogate(dir);
  return scopeName.test(scope) && isFolder ? { scope, dir } : null;
}

export const mountText = ({ scope, dir }: MountText): string => `${scope}=${dir}`;
