import { NaiveFolder } from "../naive-upsert.ts";
import { entryAndIndex } from "./way.ts";
import type { OpenWay } from "./way.ts";

export const naive: OpenWay = async (path) => {
  const folder = new NaiveFolder(path);
  return [
    {
      key: "naive",
      name: "naive durable write",
      facts: { transport: "in process", durable: "each file by itself", sandboxed: "no", writes: entryAndIndex },
      run: async ({ at, round }) => folder.upsert(at, round),
      close: async () => {},
    },
  ];
};
