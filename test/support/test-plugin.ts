import { fileURLToPath } from "node:url";

/** The file of a plugin that only tests load. */
export function testPlugin(name: string): string {
  return fileURLToPath(new URL(`../../dist/test-plugins/${name}.wasm`, import.meta.url));
}

/** The file of a plugin that the package ships. */
export function shippedPlugin(name: string): string {
  return fileURLToPath(new URL(`../../dist/plugins/${name}.wasm`, import.meta.url));
}
