import { fileURLToPath } from "node:url";

const dist = new URL("dist/", import.meta.resolve("memcell/package.json"));

/** The file of a plugin that only tests and the demo load. */
export function testPlugin(name: string): string {
  return fileURLToPath(new URL(`test-plugins/${name}.wasm`, dist));
}

/** The file of a plugin that the package ships. */
export function shippedPlugin(name: string): string {
  return fileURLToPath(new URL(`plugins/${name}.wasm`, dist));
}
