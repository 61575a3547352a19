import { expect } from 'chai';
import { InMemoryTurnLog } from '../../../src/bridges/turn-log/index.js';
import { visibleParts } from '../../../src/bridges/ui/index.js';
import { RetryAdvisor } from '../../../src/index.js';
import type { UIMessage } from '../../support/ai-sdk.js';
import { Random } from '../../support/random.js';
import { anyTurn } from '../../support/random-turns.js';
import { ToolPage, type CallPart } from '../../support/tool-page.js';

const TURNS = 40;

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
        const { answers, called, text } = anyTurn(random);
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
          calls.map(({ type }) => type.replace('tool-', '')),
          `seed ${seed}`,
        ).to.deep.equal(called);
        for (const { state } of calls)
          expect(state, `seed ${seed}`).to.match(/^output-(?:available|error|denied)$/);
        expect(new Set(page.statuses), `seed ${seed}`).to.deep.equal(new Set([200]));
      }
    });
});
