/** HTTP as bytes on a socket: nothing is normalised, and every answer on the connection is read. */
import { connect } from "node:net";

export interface Answer {
  readonly status: number;
  /** Names in lower case, in the order of names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Sent {
  /** One after the other, each as it is. A function waits for something in between. */
  readonly bytes: readonly (Buffer | (() => Promise<void>))[];
  /** When the client leaves: when the server has closed the connection (default), or once the first answer has begun. */
  readonly until?: "closed" | "begun";
}

/** All answers, once the connection is closed. */
export function exchange(port: number, { bytes, until = "closed" }: Sent): Promise<Answer[]> {
  const { promise, resolve, reject } = withResolvers<Answer[]>();
  const socket = connect({ port, host: "127.0.0.1" });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => {
    chunks.push(chunk);
    if (until === "begun" && Buffer.concat(chunks).includes("\r\n\r\n")) socket.destroy();
  });
  // A server that refuses what it has not read to its end cuts the connection: what it said before is what counts.
  socket.on("error", (error: NodeJS.ErrnoException) => {
    if (!["ECONNRESET", "EPIPE"].includes(error.code ?? "")) reject(error);
  });
  socket.on("close", () => {
    const all = Buffer.concat(chunks);
    resolve(readAnswers(until === "begun" ? all.subarray(0, all.indexOf("\r\n\r\n") + 4) : all));
  });
  void send();
  return promise;

  async function send(): Promise<void> {
    for (const each of bytes) {
      if (typeof each === "function") await each();
      else if (socket.writable) socket.write(each);
    }
  }
}

interface Resolvers<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

function withResolvers<Value>(): Resolvers<Value> {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

function readAnswers(bytes: Buffer): Answer[] {
  const answers: Answer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) throw new Error(`Not an answer: ${rest.toString("latin1").slice(0, 200)}`);
    const [first = "", ...lines] = rest.subarray(0, end).toString("latin1").split("\r\n");
    const headers = Object.fromEntries(lines.map(headerOf).toSorted());
    const { body, length } = bodyOf(rest.subarray(end + 4), headers);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1]);
    if (status !== 100) answers.push({ status, headers, body: body.toString("utf8") });
    rest = rest.subarray(end + 4 + length);
  }
  return answers;
}

function headerOf(line: string): [string, string] {
  const [name = "", ...value] = line.split(":");
  return [name.toLowerCase(), value.join(":").trim()];
}

function bodyOf(rest: Buffer, headers: Readonly<Record<string, string>>): { body: Buffer; length: number } {
  if (headers["transfer-encoding"] !== "chunked") {
    const length = Number(headers["content-length"] ?? 0);
    return { body: rest.subarray(0, length), length };
  }
  const chunks: Buffer[] = [];
  let at = 0;
  while (at < rest.length) {
    const end = rest.indexOf("\r\n", at);
    const size = Number.parseInt(rest.subarray(at, end).toString("latin1"), 16);
    chunks.push(rest.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
    if (size === 0) break;
  }
  return { body: Buffer.concat(chunks), length: at };
}
