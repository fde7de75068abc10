/** Where the config file is. */
export const fileVariable = "MEMCELL_CONFIG";

/** Variables that are meant for us, in whatever case they are written. */
export function ourVariables(environment: NodeJS.ProcessEnv): string[] {
  return Object.keys(environment).filter((name) => /^MEMCELL_/i.test(name));
}
