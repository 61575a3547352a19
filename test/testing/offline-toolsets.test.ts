import { expect } from 'chai';
import type { ToolDefinition } from '../../src/chat/tool-definition.js';
import { offlineAnswer } from '../../src/testing/index.js';
import { readQueries, readTools, requireToolsets, type PublishedTool } from '../toolsets.js';

interface Figures {
  /** The first call names a right tool. */
  right: number;
  wrong: number;
  /** The model asks for values that it did not find. */
  asked: number;
  /** No tool fits, it says. */
  none: number;
  /** With the right tools taken away: it calls one all the same. */
  fooled: number;
}

/** Offers the right tools of every n-th question among nine others, picked with a fixed seed. */
function measure(set: string, every: number): { readonly questions: number; readonly figures: Figures } {
  const tools = readTools(set);
  const questions = readQueries(set).filter((_, at) => at % every === 0);
  const byId = new Map(tools.map((tool) => [tool.id, tool]));
  const figures: Figures = { right: 0, wrong: 0, asked: 0, none: 0, fooled: 0 };
  const random = randomNumbers(1);
  for (const { query, relevant } of questions) {
    const right = relevant.flat().map((id) => byId.get(id) as PublishedTool);
    const others = nineOthers(tools, right, random);
    const at = Math.floor(random() * others.length);
    figures[outcome(query, [...others.slice(0, at), ...right, ...others.slice(at)], right)]++;
    if (ask(query, others).toolCalls.length > 0) figures.fooled++;
  }
  return { questions: questions.length, figures };
}

function outcome(query: string, offered: readonly ToolDefinition[], right: readonly ToolDefinition[]): keyof Figures {
  const { toolCalls, text } = ask(query, offered);
  const [first] = toolCalls;
  if (first) return right.some((tool) => tool.name === first.name) ? 'right' : 'wrong';
  return text?.startsWith('I need more to go on') ? 'asked' : 'none';
}

function ask(query: string, tools: readonly ToolDefinition[]): ReturnType<typeof offlineAnswer> {
  return offlineAnswer({ messages: [{ role: 'user', content: query }], tools });
}

function nineOthers(tools: readonly PublishedTool[], right: readonly PublishedTool[], random: () => number): readonly PublishedTool[] {
  const others = new Set<PublishedTool>();
  while (others.size < 9) {
    const tool = tools[Math.floor(random() * tools.length)] as PublishedTool;
    if (!right.includes(tool)) others.add(tool);
  }
  return [...others];
}

/** Mulberry32: the same numbers on every machine. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The questions that are asked, what must at least be right and at most be called in error; the figures themselves are printed. */
const SETS: readonly (readonly [set: string, every: number, right: number, fooled: number])[] = [
  ['bfcl-v1', 1, 0.8, 0.2],
  ['bfcl-live', 4, 0.65, 0.2],
  ['seal', 4, 0.9, 0.2],
];

describe('the offline model on published tools and questions', function () {
  this.timeout(60_000);
  this.slow(30_000);

  for (const [set, every, right, fooled] of SETS) {
    it(`calls the right tool of ${set} among nine others`, function () {
      requireToolsets(this);

      const { questions, figures } = measure(set, every);

      const share = (count: number): string => `${((100 * count) / questions).toFixed(1)} %`;
      console.log(
        `      ${set}: first call right ${figures.right}/${questions} (${share(figures.right)}), wrong ${share(figures.wrong)}, ` +
          `asks for values ${share(figures.asked)}, says that none fits ${share(figures.none)}; ` +
          `calls one of the nine where the right one is missing ${share(figures.fooled)}`,
      );
      expect(figures.right / questions).to.be.at.least(right);
      expect(figures.fooled / questions).to.be.at.most(fooled);
    });
  }
});
