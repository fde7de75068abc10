/** A program of a user: it stores an entry, and prints what became of it, or why there is no runtime. */
export const program = (options: string, names = "createRuntime"): string => `import { ${names} } from "memcell";
const upsert = { action: "upsert", type: "user", name: "a", description: "x", body: "y" };
try {
  const runtime = await createRuntime(${options});
  const stored = await runtime.call("UpdateUserMemory", upsert, { userId: "alice" });
  await runtime.close();
  console.log(stored.ok ? stored.data.outcome : stored.error.message);
} catch ({ code, message }) {
  console.log(code + ": " + message);
}
`;
