/** The command line or a setting is invalid: exit code 2. */
export class UsageError extends Error {}
