import type { ChatResponse } from '../../core/chat/chat-response.js';
import { TimeSlice } from '../../core/internal/time-slice.js';
import type { ReceivedDetails } from './http-error.js';

/** Reader of the body of a response. */
export type Source<P = Uint8Array> = Pick<ReadableStreamDefaultReader<P>, 'read' | 'cancel'>;

/** A piece of an answer: bytes of a body, or parts that a provider package has decoded. */
export interface Piece {
  readonly byteLength: number;
}

/** An answer that has begun, such as a `Response`. */
export interface BegunAnswer<P extends Piece = Uint8Array> {
  readonly headers: Headers;
  readonly body: { getReader(): Source<P>; cancel(): Promise<unknown> } | null;
}

/** The reader of an answer, such as `BodyReader`. */
export interface AnswerReader<P extends Piece = Uint8Array> {
  /** True after the end marker, or when the request is cancelled; later pieces are ignored. */
  done: boolean;
  readonly fold: { readonly finished: boolean; readonly mayContinue?: boolean };
  /** Parts of the answer so far, for errors. */
  readonly received: ReceivedDetails;
  push(piece: P): void;
  /** @throws ModelCallError if the answer is not complete */
  end(headers: Headers): ChatResponse;
}

/**
 * Time in milliseconds that the end of a complete response may take. The process stays alive for
 * it; the end usually comes with the end marker, or in the next packet.
 */
const DRAIN_TIME = 50;

/**
 * Reads a body as a whole. Decodes it once: in pieces that takes longer.
 * @param onPiece throws to stop at a limit
 */
export async function readText(
  source: Source,
  onPiece: (piece: Uint8Array) => void,
): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let piece = await source.read(); !piece.done; piece = await source.read()) {
    onPiece(piece.value);
    pieces.push(piece.value);
  }
  const [first] = pieces;
  return new TextDecoder().decode(pieces.length === 1 ? first : joinBytes(pieces));
}

/**
 * Reads a body into a reader, up to the end marker or the end.
 * @param push gives a piece to the reader; throws to stop at a limit
 */
export async function readInto<P>(
  reader: { readonly done: boolean },
  source: Source<P>,
  push: (piece: P) => void,
): Promise<void> {
  const slice = new TimeSlice();
  for (let piece = await source.read(); !piece.done; piece = await source.read()) {
    push(piece.value);
    if (reader.done) return;
    const pause = slice.next(); // pieces that are there already come without a task between them
    if (pause) await pause;
  }
}

function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}

/** Reads the rest so that the connection can be reused; cancels a body that does not end. */
export function drain(source: Source<unknown>): Promise<void> {
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
export function cancel(body: { cancel(): Promise<unknown> } | null | undefined): void {
  body?.cancel().catch(() => undefined);
}
