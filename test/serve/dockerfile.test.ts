/** What the Dockerfile says is true: a linter finds nothing, and its command starts a server that its health check finds. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";

import type { Instruction } from "dockerfile-ast";
import { Cmd, Copy, DockerfileParser, Entrypoint, From, Healthcheck } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { expect, test } from "vitest";

import { HttpProcess } from "../stage/http-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = new URL("../../", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, root), "utf8");
const text = read("Dockerfile");
const manifest = JSON.parse(read("package.json")) as { bin: { memcell: string }; engines: { node: string } };
const instructions = DockerfileParser.parse(text).getInstructions();
const of = <Kind extends Instruction>(kind: new (...args: never[]) => Kind): Kind[] =>
  instructions.filter((each): each is Kind => each instanceof kind);
const lastStage = instructions.slice(instructions.findLastIndex((each) => each instanceof From));
const argumentsOf = (keyword: string): string[] =>
  lastStage.filter((each) => each.getKeyword() === keyword).map((each) => each.getArgumentsContent() ?? "");
const wordsOf = (command: Cmd | Entrypoint | undefined): string[] =>
  (command?.getJSONStrings() ?? []).map((each) => JSON.parse(each.getValue()) as string);

test("a linter finds nothing, and would find something", () => {
  expect(validate(text).map(({ message, range }) => ({ message, line: range.start.line + 1 }))).toEqual([]);
  expect(validate(`${text}MAINTAINER nobody\nCMD ["x"]\nEXPOSE nothing\n`).length).toBeGreaterThan(2);
});

test("every image has a Node version that the package takes, and is no moving target", () => {
  const images = of(From).map((each) => each.getImage() ?? "");
  expect(images).not.toEqual([]);
  for (const image of images) {
    const [, version = ""] = /^node:(\d+)-[a-z]+-slim$/.exec(image) ?? [];
    expect(Number(version)).toBeGreaterThanOrEqual(Number(/\d+/.exec(manifest.engines.node)?.[0]));
  }
});

test("what is copied from the clone is there, and it runs as a user without rights, with data in a volume", () => {
  const sources = of(Copy)
    .filter((each) => each.getFlags().length === 0)
    .flatMap((each) => each.getArguments().slice(0, -1))
    .map((each) => each.getValue());
  expect(sources).toContain("package-lock.json");
  for (const source of sources) expect(existsSync(new URL(source, root))).toBe(true);
  expect([argumentsOf("USER"), argumentsOf("VOLUME")]).toEqual([["node"], ["/data"]]);
});

test("its command serves over HTTP, and its health check finds it", { timeout: 60_000 }, async () => {
  using folder = temporaryFolder();
  const [entrypoint, command] = [wordsOf(of(Entrypoint)[0]), wordsOf(of(Cmd)[0])];
  expect(entrypoint).toEqual(["node", manifest.bin.memcell.replace("./", "/app/")]);
  expect(command[0]).toBe("serve");
  const env = Object.fromEntries(
    argumentsOf("ENV").flatMap((all) =>
      Array.from(all.matchAll(/(\w+)=(\S+)/g), ([, name = "", value = ""]) => [name, value]),
    ),
  );
  expect(env).toMatchObject({ MEMCELL_DATA: argumentsOf("VOLUME")[0] });
  const auth = {
    MEMCELL_SERVE_PUBLIC_URL: "https://memory.example/mcp",
    MEMCELL_SERVE_AUTH_ISSUER: "https://id.example",
    MEMCELL_SERVE_AUTH_AUDIENCE: "https://memory.example/mcp",
    MEMCELL_SERVE_AUTH_JWKS: "https://id.example/keys",
  };
  const more = { ...auth, MEMCELL_DATA: folder.path, MEMCELL_SERVE_PORT: "0" };
  await using server = new HttpProcess(command.slice(1), { cwd: folder.path, env: { ...env, ...more }, isHttp: false });
  const { port } = new URL(await server.url());
  const [health] = of(Healthcheck);
  const [, check = ""] = /CMD (\[.*\])$/.exec(health?.getArgumentsContent() ?? "") ?? [];
  const [, ...args] = JSON.parse(check) as string[];
  const ask = (at: string): Promise<unknown> =>
    promisify(execFile)(
      process.execPath,
      args.map((each) => each.replace(":7391/", `:${at}/`)),
    );
  expect(args.join(" ")).toContain(":7391/healthz");
  expect(argumentsOf("EXPOSE")).toEqual(["7391"]);
  await ask(port);
  await server.end();
  await expect(ask(port)).rejects.toMatchObject({ code: 1 });
});
