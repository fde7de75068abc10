const family = "stores";

/** Throws at once if there are no stores: a model could not help that. `what` is what cannot be made without them. */
export function requireStores(runtime: { families(): readonly { readonly name: string }[] }, what: string): void {
  if (runtime.families().some(({ name }) => name === family)) return;
  throw new Error(
    `Cannot make ${what}: the plugin "${family}" is not loaded, add "${family}" to the option plugins of createRuntime`,
  );
}

/** What adapters say of Claude's tool. */
export const claudesTool = "Claude's memory tool";
