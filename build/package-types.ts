/**
 * Makes the types of the package: those of the public API, which know the tools of the package's plugins by name. The
 * compiler cannot make them, because the types of the tools follow from the plugins that the build makes after it.
 */

/** Returns `dist/index.d.ts`, for plugins whose types are in `dist/plugins/`. */
export function packageTypes(plugins: readonly string[]): string {
  const imports = plugins.map(
    (name, at) => `import type { HostTools as HostTools${at}, Tools as Tools${at} } from "./plugins/${name}.d.ts";\n`,
  );
  const all = (type: string): string => plugins.map((_name, at) => `${type}${at}`).join(", ");
  return `/** The types of the package, made by its build. */
${imports.join("")}
export * from "./host/index.js";

declare module "./host/runtime/tool-types.js" {
  interface ToolTypes extends ${all("Tools")} {}
  interface HostToolTypes extends ${all("HostTools")} {}
}
`;
}
