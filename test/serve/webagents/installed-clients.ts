/** The real Python clients, installed from PyPI. */
import { fileURLToPath } from "node:url";

import { installPackages } from "../../support/python-packages.ts";
import type { InstalledPackages } from "../../support/python-packages.ts";

const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));

export const installClients = (): Promise<InstalledPackages> =>
  installPackages({ name: "webagents", requirements, least: [3, 11] });
