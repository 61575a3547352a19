/** Reader of the body of a response. */
export type Source = ReadableStreamDefaultReader<Uint8Array>;

/** Time in milliseconds that the rest of a complete response may take. */
const DRAIN_TIME = 1_000;

/** Reads a body as a whole. Decodes it once: in pieces that takes longer. */
export async function readText(source: Source): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let piece = await source.read(); !piece.done; piece = await source.read())
    pieces.push(piece.value);
  const [first] = pieces;
  return new TextDecoder().decode(pieces.length === 1 ? first : joined(pieces));
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}

/** Reads the rest so that the connection can be reused; cancels a body that does not end. */
export function drain(source: Source): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      cancel(source);
      resolve();
    }, DRAIN_TIME);
    const read = async (): Promise<void> => {
      while (!(await source.read()).done);
    };
    void read()
      .catch(() => undefined) // the response is complete
      .finally(() => {
        clearTimeout(timer);
        resolve();
      });
  });
}

/** Gives up a body without waiting for it: a foreign one may never settle. */
export function cancel(body: Pick<Source, 'cancel'> | null | undefined): void {
  body?.cancel().catch(() => undefined);
}
