/** Divides what one side of a connection sends into messages of the protocol, version 3, without encryption. */
export class MessageReader {
  #isStartup: boolean;
  #rest: Buffer = Buffer.alloc(0);

  /** The first message of a host has no type. */
  constructor(isOfHost: boolean) {
    this.#isStartup = isOfHost;
  }

  /** The messages that are complete by now. */
  take(bytes: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const messages: Buffer[] = [];
    for (;;) {
      const typeBytes = this.#isStartup ? 0 : 1;
      if (this.#rest.length < typeBytes + 4) return messages;
      // The length includes itself, but not the type.
      const size = typeBytes + this.#rest.readInt32BE(typeBytes);
      if (this.#rest.length < size) return messages;
      messages.push(this.#rest.subarray(0, size));
      this.#rest = this.#rest.subarray(size);
      this.#isStartup = false;
    }
  }
}
