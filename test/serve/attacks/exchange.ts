/** HTTP as raw bytes on a socket: nothing is normalised, and every answer on the connection is read. */
import { connect } from "node:net";

export interface Answer {
  readonly status: number;
  /** Header names are in lower case and sorted. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Sent {
  /** Sent one after the other, unchanged. */
  readonly bytes: readonly Buffer[];
  /** When the client stops: when the server has closed the connection (default), or when the first answer has begun. */
  readonly until?: "closed" | "begun";
}

/** Returns all answers when the connection is closed. */
export async function exchange(port: number, { bytes, until = "closed" }: Sent): Promise<Answer[]> {
  const socket = connect({ port, host: "127.0.0.1" });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => {
    chunks.push(chunk);
    if (until === "begun" && Buffer.concat(chunks).includes("\r\n\r\n")) socket.destroy();
  });
  const closed = new Promise<void>((resolve, reject) => {
    socket.on("close", () => resolve());
    // A server that refuses a request before reading all of it cuts the connection. Its answer counts.
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (!["ECONNRESET", "EPIPE"].includes(error.code ?? "")) reject(error);
    });
  });
  for (const each of bytes) socket.write(each);
  await closed;
  const all = Buffer.concat(chunks);
  return readAnswers(until === "begun" ? all.subarray(0, all.indexOf("\r\n\r\n") + 4) : all);
}

function readAnswers(bytes: Buffer): Answer[] {
  const answers: Answer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) throw new Error(`Not an answer: ${rest.toString("latin1").slice(0, 200)}`);
    const [first = "", ...lines] = rest.subarray(0, end).toString("latin1").split("\r\n");
    const headers = Object.fromEntries(lines.toSorted().map(headerOf));
    // Only streams have no length, and the client does not wait for what they tell.
    const body = rest.subarray(end + 4, end + 4 + Number(headers["content-length"] ?? 0));
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1]);
    if (status !== 100) answers.push({ status, headers, body: body.toString("utf8") });
    rest = rest.subarray(end + 4 + body.length);
  }
  return answers;
}

function headerOf(line: string): [string, string] {
  const [name = "", ...value] = line.split(":");
  return [name.toLowerCase(), value.join(":").trim()];
}
