/** Where a setting's value comes from. */
export type Source =
  | { readonly kind: "default" }
  /** The config file, and the setting's path in it. */
  | { readonly kind: "file"; readonly name: string }
  | { readonly kind: "environment"; readonly name: string }
  | { readonly kind: "flag"; readonly name: string };

export function sourceText(source: Source): string {
  switch (source.kind) {
    case "default":
      return "default";
    case "file":
      return `file ${source.name}`;
    case "environment":
      return `environment ${source.name}`;
    case "flag":
      return `flag ${source.name}`;
  }
}
