import type { GuestModule } from "../../host/guest/guest-module.ts";
import { judgeCatalog } from "../../host/plugins/catalog.ts";
import type { JudgedPlugin } from "../../host/plugins/catalog.ts";
import type { Policy } from "../../host/plugins/policy/policy.ts";

interface LoadedPlugin extends Omit<JudgedPlugin, "guest"> {
  readonly guest: GuestModule;
}

/** Loads plugin files as a runtime does at its start: checked by the host, compiled by the engine. */
export async function loadCatalog(files: readonly string[], policy: Policy): Promise<{ plugins: LoadedPlugin[] }> {
  const { plugins } = await judgeCatalog({ named: files, besides: [], bundled: [] }, policy);
  const compiled = plugins.map(async ({ manifest, sha256, guest }) => ({ manifest, sha256, guest: await guest }));
  return { plugins: await Promise.all(compiled) };
}
