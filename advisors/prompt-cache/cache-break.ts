import type { Advisor } from '../../src/core/advisor/advisor.js';
import { changedField, isSameDigest } from './digest.js';
import {
  firstDifference,
  itemAt,
  PARTS,
  tokensFrom,
  type Prefix,
  type PrefixPart,
} from './prefix.js';
import type { SentPrefix, Stage } from './sent-prefix.js';

/** The first difference of a request to the one before it, after which the provider caches nothing. */
export interface PromptCacheBreak {
  /** `model`: another model, which has a cache of its own. */
  readonly part: PrefixPart | 'model';
  /** Index in the part, from 0. */
  readonly index: number;
  /** Name of the tool, role of the message, or name of the model. */
  readonly name: string;
  /**
   * `added`, `removed`, `order`, `replaced`, or the name of the field that has changed, such as `text`
   * or `description`.
   */
  readonly change: string;
  /** Name of the advisor that caused it; undefined if it is in the request of the application. */
  readonly advisor: string | undefined;
  /** Estimated tokens that the provider reads again at the full price. */
  readonly lostTokens: number;
  /** Tokens in the cache after the request before, as the provider reported them. */
  readonly cachedBefore: number | undefined;
  /** Tokens that this request has read from the cache, as the provider reported them. */
  readonly cachedNow: number | undefined;
}

interface Place {
  readonly part: PrefixPart | 'model';
  readonly index: number;
}

/**
 * Compares a request with the one before it; messages may be added at the end.
 * @param advisors the chain, in order
 */
export function findBreak(
  before: SentPrefix,
  now: SentPrefix,
  advisors: readonly Advisor[],
): Omit<PromptCacheBreak, 'cachedNow'> | undefined {
  const place = firstPlace(before.prefix, now.prefix);
  if (!place) return undefined;
  return {
    ...place,
    ...describeChange(before.prefix, now.prefix, place),
    advisor: nameOfCause(before, now, place, advisors),
    // what is not sent again is not lost
    lostTokens: Math.min(tokensAfter(before.prefix, place), tokensAfter(now.prefix, place)),
    cachedBefore: before.cachedTokens,
  };
}

function firstPlace(before: Prefix, now: Prefix): Place | undefined {
  if (before.model !== now.model) return { part: 'model', index: 0 };
  for (const part of PARTS) {
    const index = firstDifference(before[part], now[part]);
    if (index === undefined) continue;
    // a conversation that grows, or is cut at its end, is in the cache
    const isEnd = index >= Math.min(before[part].length, now[part].length);
    if (part !== 'messages' || !isEnd) return { part, index };
  }
  return undefined;
}

function describeChange(
  before: Prefix,
  now: Prefix,
  { part, index }: Place,
): Pick<PromptCacheBreak, 'name' | 'change'> {
  if (part === 'model') return { name: now.model ?? '', change: 'replaced' };
  const [was, is] = [itemAt(before[part], index), itemAt(now[part], index)];
  const name = (is ?? was)?.name ?? '';
  if (!was || !is) return { name, change: is ? 'added' : 'removed' };
  const isLater = hasAfter(now, part, index, was);
  const wasLater = hasAfter(before, part, index, is);
  if (isLater && wasLater) return { name, change: 'order' };
  if (isLater) return { name, change: 'added' };
  if (wasLater) return { name: was.name, change: 'removed' };
  return { name, change: changedField(was, is) ?? 'replaced' };
}

type Item = ReturnType<typeof itemAt>;

function hasAfter(prefix: Prefix, part: PrefixPart, index: number, item: Item): boolean {
  const { items, length } = prefix[part];
  return items.slice(index + 1, length).some((each) => isSameDigest(each, item));
}

function tokensAfter(prefix: Prefix, { part, index }: Place): number {
  if (part === 'model') return prefix.tokens;
  return PARTS.slice(PARTS.indexOf(part)).reduce(
    (sum, each) => sum + tokensFrom(prefix[each], each === part ? index : 0),
    0,
  );
}

/** The last advisor that received what was sent before, or what it had received before. */
function nameOfCause(
  before: SentPrefix,
  now: SentPrefix,
  place: Place,
  advisors: readonly Advisor[],
): string | undefined {
  const positions = new Map(advisors.map(({ name }, at) => [name, at]));
  const positionOf = ({ name }: Stage): number => positions.get(name) ?? -1;
  /** The prefix before that came to a position: the next advisor that changed it received it. */
  const receivedAt = (position: number): Prefix =>
    before.stages.findLast((stage) => positionOf(stage) >= position)?.received ?? before.prefix;
  const isIntact = (stage: Stage): boolean =>
    isSameAt(before.prefix, stage.received, place) ||
    isSameAt(receivedAt(positionOf(stage)), stage.received, place);
  const cause =
    now.stages.find(isIntact) ??
    // of two turns, a memory receives other messages: it is the one that put this one here
    (place.part === 'messages'
      ? now.stages.find(({ received }) => !isSameAt(received, now.prefix, place))
      : undefined);
  // the loop offers the tools that were found
  const isFound = place.part === 'tools' && cause?.role === 'tool-loop';
  const search = isFound ? advisors.find(({ role }) => role === 'tool-search') : undefined;
  return (search ?? cause)?.name;
}

function isSameAt(a: Prefix, b: Prefix, { part, index }: Place): boolean {
  if (part === 'model') return a.model === b.model;
  return isSameDigest(itemAt(a[part], index), itemAt(b[part], index));
}
