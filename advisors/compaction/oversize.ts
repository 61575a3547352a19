import { LimitExceededError } from '../../src/core/errors/errors.js';
import { messagesOf, type Piece } from './pieces.js';
import type { TokenMeter } from '../../src/core/advisor/token-meter.js';

interface Oversize {
  readonly maxTokens: number;
  /** Tokens of the request. */
  readonly tokens: number;
  /** Estimated tokens of tools and schemas. */
  readonly schemas: number;
  readonly meter: TokenMeter;
  /** Tokens per estimated token. */
  readonly ratio: number;
}

/** Number of parts of a request that an error names. */
const NAMED = 3;

/** The error of a request that cannot be made short enough; it names what is large. */
export function oversizeError(pieces: readonly Piece[], size: Oversize): LimitExceededError {
  const { maxTokens, tokens, schemas, meter, ratio } = size;
  const present = pieces.at(-1)?.turn;
  const sizeOf = (accepts: (piece: Piece) => boolean): number =>
    meter.ofAll(messagesOf(pieces.filter(accepts)));
  const isOf = (kind: Piece['kind']) => (piece: Piece) =>
    piece.kind === kind && piece.turn === present;
  const parts: readonly (readonly [string, number])[] = [
    ['tools and schemas', schemas],
    ['system messages', sizeOf(({ kind }) => kind === 'system')],
    ['messages of the user in this turn', sizeOf(isOf('user'))],
    ['tool calls and results of this turn', sizeOf(isOf('iteration'))],
    ['earlier turns', sizeOf(({ turn, kind }) => turn !== present && kind !== 'system')],
    ['summaries', sizeOf(isOf('summary'))],
  ];
  const largest = parts.toSorted(([, a], [, b]) => b - a).slice(0, NAMED);
  const list = largest
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${Math.round(count * ratio)}`);
  return new LimitExceededError(
    `The request has about ${Math.round(tokens)} tokens, ${maxTokens} are allowed, and nothing in it may be removed (${list.join(', ')}); nothing was sent`,
    { limit: 'request-tokens', value: maxTokens, spent: Math.round(tokens), option: 'maxTokens' },
  );
}
