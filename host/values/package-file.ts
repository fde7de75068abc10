/**
 * Where the package's own files are. A bundler takes its code and leaves them behind, so `host/index.ts` imports this
 * file first, and a bundle that has memcell in it ends at once with what to do instead.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { ToolError } from "./tool-error.ts";

const page = "host/runtime/bundlers.md in the package";

const folder: string = packageFolder();

/** The absolute path of a file or folder of the package, such as `dist/plugins/`, whether it is there or not. */
export const packagePath = (path: string): string => fileURLToPath(new URL(path, folder));

/** The same for what must be there. Throws `INTERNAL` if it is missing. */
export function packageFile(path: string): string {
  const file = packagePath(path);
  if (existsSync(file)) return file;
  throw new ToolError(
    "INTERNAL",
    `Cannot use memcell: ${path} of its package is missing; whatever copies the package must copy all of it, as outputFileTracingIncludes does in Next.js (${page})`,
  );
}

/** In a bundle, this file is elsewhere than in the package that its name leads to, or there is no way to ask. */
function packageFolder(): string {
  try {
    const found = new URL(".", import.meta.resolve("memcell/package.json")).href;
    if (import.meta.url.startsWith(found)) return found;
  } catch {
    // The bundler has no `import.meta.resolve`, or no package is installed.
  }
  throw new Error(
    `Cannot run memcell from a bundle: it reads files of its package and starts threads from them; keep it out, by serverExternalPackages: ["memcell"] in Next.js, --packages=external in esbuild, ssr.external in Vite, or externals in webpack (${page})`,
  );
}
