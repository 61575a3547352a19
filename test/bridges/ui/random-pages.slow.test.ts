import { expect } from 'chai';
import { InMemoryTurnLog } from '../../../src/bridges/turn-log/index.js';
import { visibleParts } from '../../../src/bridges/ui/index.js';
import { ModelCallError, RetryAdvisor } from '../../../src/index.js';
import type { ScriptedAnswer } from '../../../src/testing/index.js';
import type { UIMessage } from '../../support/ai-sdk.js';
import { Random } from '../../support/random.js';
import { callOf, ToolPage, type CallPart } from '../../support/tool-page.js';

const TURNS = 40;

/** Answers of a turn, of which some break off, with the text and the calls that stand. */
function anyScript(random: Random) {
  const answers: ScriptedAnswer[] = [];
  const called: string[] = [];
  let text = '';
  const error = new ModelCallError('down', { status: 503, retryable: true });
  const iterations = random.below(4);
  for (let at = 0; at <= iterations; at++) {
    const isLast = at === iterations;
    if (random.chance(0.3)) answers.push({ text: 'half', deltas: ['ha', 'lf'], error });
    if (random.chance(0.2))
      answers.push({ text: 'half', toolCalls: [callOf(`void-${at}`, 'look')], error });
    const own = isLast || random.chance(0.7) ? `t${at} ` : '';
    const toolCalls = Array.from({ length: isLast ? 0 : 1 + random.below(3) }, (_, count) => {
      const name = random.pick(['locate', 'open', 'look', 'pay']);
      called.push(`tool-${name}`);
      return callOf(`c${at}-${count}`, name, name === 'open' ? { n: count } : {});
    });
    answers.push({ text: own, ...(!isLast && { toolCalls }) });
    text += own;
  }
  return { answers, called, text };
}

const textOf = ({ parts }: UIMessage): string =>
  visibleParts(parts)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');

/** Answers all requests for approval until none is open. */
async function decide(page: ToolPage, random: Random): Promise<void> {
  for (;;) {
    const parts = (await page.settled()) as readonly (CallPart & {
      readonly approval?: { readonly id: string };
    })[];
    const asked = parts.filter(({ state }) => state === 'approval-requested');
    if (asked.length === 0) return;
    for (const { approval } of asked)
      await page.addToolApprovalResponse({
        id: approval?.id ?? '',
        approved: random.chance(0.6),
      });
  }
}

describe('the page of useChat', function () {
  this.timeout(120_000);

  for (const source of ['the run', 'a log'])
    it(`has the answer of ${TURNS} random turns with approvals, its own tools and retries, read from ${source}`, async () => {
      for (let seed = 0; seed < TURNS; seed++) {
        const random = new Random(seed);
        const { answers, called, text } = anyScript(random);
        const page = new ToolPage(answers, () => ({ output: { city: 'Rome' } }), {
          advisors: [new RetryAdvisor({ firstDelay: 1 })],
          ...(source === 'a log' && { log: new InMemoryTurnLog() }),
        });

        await page.sendMessage({ text: 'Q' });
        await decide(page, random);

        const message = page.lastMessage as UIMessage;
        const calls = visibleParts(message.parts).filter((part) => 'toolCallId' in part);
        expect(textOf(message), `seed ${seed}`).to.equal(text);
        expect(
          calls.map(({ type }) => type),
          `seed ${seed}`,
        ).to.deep.equal(called);
        for (const { state } of calls)
          expect(state, `seed ${seed}`).to.match(/^output-(?:available|error|denied)$/);
        expect(new Set(page.statuses), `seed ${seed}`).to.deep.equal(new Set([200]));
      }
    });
});
