import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const dist = new URL("dist/", import.meta.resolve("memcell/package.json"));

/** The path of a plugin that only tests and the demo load. */
export function testPlugin(name: string): string {
  return fileURLToPath(new URL(`test-plugins/${name}.wasm`, dist));
}

/** The names of all plugins that the package ships, sorted. */
export function shippedNames(): string[] {
  const names = readdirSync(new URL("plugins/", dist)).filter((name) => name.endsWith(".wasm"));
  return names.map((name) => name.slice(0, -".wasm".length)).toSorted();
}

/** The flags that load all of them. */
export const shippedFlags = (): string[] => shippedNames().flatMap((name) => ["--plugin", name]);

/** The path of a plugin that the package ships. */
export function shippedPlugin(name: string): string {
  return fileURLToPath(new URL(`plugins/${name}.wasm`, dist));
}
