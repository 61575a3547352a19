import { expect } from 'chai';
import { z } from 'zod';
import { defineTool } from '../../../src/index.js';
import { editArguments } from '../../../advisors/approval/edited-call.js';
import type { JsonValue } from '../../../src/core/internal/json.js';

const cents = (euros: number): number => euros * 100;
const tool = defineTool({
  name: 'pay',
  effect: 'write',
  input: z.object({
    amount: z.number().transform(cents),
    to: z.string().trim(),
    copies: z.coerce.number().default(1),
    lines: z.array(z.object({ price: z.number().transform(cents), text: z.string() })).default([]),
  }),
  execute: () => 'paid',
});

/** The edit of a call whose arguments the model wrote, as a person sees them. */
async function edit(written: JsonValue, change: (shown: never) => unknown): Promise<unknown> {
  const checked = await tool.validate?.(written);
  const shown = (checked as unknown as { value: JsonValue }).value;
  const argumentsText = JSON.stringify(written);
  const { problem, ...edited } = await editArguments(tool, change(shown as never), {
    arguments: shown,
    argumentsText,
  });
  return problem ?? (edited as { value: unknown }).value;
}

describe('arguments that a person edits', () => {
  it('are refused where the schema would change a second time what it has made', async () => {
    const problem = await edit({ amount: 5, to: 'Eva' }, (shown: object) => ({
      ...shown,
      to: 'Bob',
    }));

    expect(problem).to.match(/not valid: \/amount is left as the schema has made it/);
  });

  it('are refused so within lists, too', async () => {
    const lines = [{ price: 5, text: 'a' }];
    const written = { amount: 5, to: 'Eva', lines };
    const problem = await edit(written, (shown: { lines: readonly object[] }) => ({
      ...shown,
      amount: 5,
      lines: [{ ...shown.lines[0], text: 'b' }],
    }));

    expect(problem).to.match(/\/lines\/0\/price is left/);
  });

  it('start from the arguments of the model, or from values that the schema leaves unchanged', async () => {
    const made = await edit({ amount: 5, to: ' Eva ', copies: '2' }, (shown: object) => ({
      ...shown,
      amount: 6,
    }));

    expect(made).to.deep.equal({ amount: 600, to: 'Eva', copies: 2, lines: [] });
  });

  it('may not have keys that could change a prototype', async () => {
    const problem = await edit({ amount: 5, to: 'Eva' }, () =>
      JSON.parse('{"amount":5,"to":"Eva","__proto__":{"admin":true}}'),
    );

    expect(problem).to.match(/"__proto__" is not accepted/);
  });
});
