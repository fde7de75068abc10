import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { bundleModule, projectFolder } from "./bundle.ts";

/** The package as npm installs it. */
export const zodPlace = "node_modules/zod";

/**
 * Puts what `shared/zod.ts` uses of zod into its compiled file (`build/RATIONALE.md`, "Why is zod bundled?"). The
 * compiler's own output imports the package and does the same, only slower.
 */
export async function bundleZod(): Promise<void> {
  const licence = await readFile(join(projectFolder, zodPlace, "LICENSE"), "utf8");
  const compiled = join(projectFolder, "dist/shared/zod.js");
  await bundleModule(
    join(projectFolder, "shared/zod.ts"),
    compiled,
    `/*! Contains code of zod.\n\n${licence.trim()}\n*/`,
  );
}
