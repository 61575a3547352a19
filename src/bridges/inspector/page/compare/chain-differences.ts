import type { InspectedChain } from '../../inspected-turn.js';

/** An advisor that differs in two chains. */
export interface ChainDifference {
  readonly advisor: string;
  readonly words: string;
}

/** The advisors of one chain alone, and those with other orders or options. */
export function chainDifferences(
  left: InspectedChain,
  right: InspectedChain,
): readonly ChainDifference[] {
  const byName = (chain: InspectedChain) =>
    new Map(chain.advisors.map((each) => [each.name, each]));
  const [a, b] = [byName(left), byName(right)];
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((advisor) => {
    const [old, now] = [a.get(advisor), b.get(advisor)];
    if (!old || !now) return [{ advisor, words: old ? 'only in A' : 'only in B' }];
    const words = [
      ...(old.order === now.order ? [] : [`order ${old.order} in A, ${now.order} in B`]),
      ...optionWords(old.options, now.options),
    ];
    return words.length > 0 ? [{ advisor, words: words.join('; ') }] : [];
  });
}

const MAX_VALUE = 60;

function optionWords(old: object, now: object): readonly string[] {
  const [a, b] = [new Map(Object.entries(old)), new Map(Object.entries(now))];
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((name) => {
    const [before, after] = [a, b].map((options) =>
      options.has(name) ? JSON.stringify(options.get(name)) : 'not set',
    ) as [string, string];
    if (before === after) return [];
    const short = [before, after].map((value) =>
      value.length > MAX_VALUE ? `${value.slice(0, MAX_VALUE)}…` : value,
    );
    return [`${name} ${short[0]} in A, ${short[1]} in B`];
  });
}
