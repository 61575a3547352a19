import { inspect } from 'node:util';
import { expect } from 'chai';
import { ToolCallingAdvisor } from '../../../advisors/index.js';
import { AdvisorOrder, type Advisor } from '../../../src/core/advisor/advisor.js';
import { defineAdvisor, type AdvisorFunctions } from '../../../src/core/advisor/define-advisor.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { MODES } from '../../support/modes.js';
import { requestFor, run, type Result } from '../../support/runs.js';

const DEPTHS = [0, 1, 2, 3, 4] as const;
/** Two outside of the tool loop, three inside. */
const ORDERS = [
  AdvisorOrder.GUARD,
  AdvisorOrder.MEMORY,
  AdvisorOrder.RESILIENCE,
  AdvisorOrder.RESILIENCE + 1,
  AdvisorOrder.LOGGER,
];

const echo = defineTool({ name: 'echo', execute: () => 'ok' });

/** Failures of each hook: synchronous, async, or after the rest of the chain. */
function failing(error: Error): Readonly<Record<string, Partial<AdvisorFunctions>>> {
  const fail = (): never => {
    throw error;
  };
  const later = async (): Promise<never> => {
    await new Promise((resolve) => setImmediate(resolve));
    throw error;
  };
  return {
    'before throws': { before: fail },
    'before rejects': { before: later },
    'after throws': { after: fail },
    'after rejects': { after: later },
    'around throws': { around: fail },
    'around rejects': { around: later },
    'around throws after next': {
      around: async (request, next) => {
        await next(request);
        throw error;
      },
    },
    'onEvent throws': { onEvent: fail },
    'onEvent throws at the response': {
      onEvent: (event) => (event.type === 'response' ? fail() : undefined),
    },
    'aroundTool throws': { aroundTool: fail },
    'aroundTool rejects': { aroundTool: later },
  };
}

/** Five advisors, one of which fails; the others note that they are cleaned up. */
function chainWith(
  depth: number,
  functions: Partial<AdvisorFunctions>,
  cleaned: string[],
): Advisor[] {
  return ORDERS.map((order, at) => {
    const name = `advisor ${at}`;
    if (at === depth) return defineAdvisor({ name, order, ...functions });
    return defineAdvisor({
      name,
      order,
      around: async (request, next) => {
        try {
          return await next(request);
        } finally {
          cleaned.push(name);
        }
      },
      aroundTool: (call, next) => next(call),
    });
  });
}

async function runFailing(mode: 'call' | 'stream', advisors: Advisor[]): Promise<Result> {
  const model = new ScriptedChatModel((prompt) =>
    prompt.messages.at(-1)?.role === 'tool'
      ? 'Done.'
      : { text: 'One moment. ', toolCalls: [{ name: 'echo' }] },
  );
  return run([...advisors, new ToolCallingAdvisor()], model, requestFor(mode, { tools: [echo] }));
}

describe('an error of an advisor', () => {
  for (const mode of MODES)
    for (const depth of DEPTHS)
      for (const what of Object.keys(failing(new Error('boom')))) {
        it(`[F80] reaches the caller once, as the same object: ${what} at depth ${depth} of 5 (${mode})`, async () => {
          const error = new Error('boom');
          const cleaned: string[] = [];
          const functions = failing(error)[what] ?? {};

          const { errors, completed, events } = await runFailing(
            mode,
            chainWith(depth, functions, cleaned),
          );

          expect(errors).to.have.lengthOf(1);
          expect(errors[0]).to.equal(error);
          expect(completed).to.equal(false);
          expect(events.some((event) => event.type === 'response')).to.equal(false);
          // advisors inside the loop have ended when the tools run
          const waiting = what.startsWith('aroundTool') ? Math.min(depth, 2) : depth;
          for (let outer = 0; outer < waiting; outer++)
            expect(cleaned).to.include(`advisor ${outer}`);
        });
      }

  for (const thrown of [undefined, null, 'a text', 0, Object.freeze(new Error('frozen'))]) {
    it(`can be any value: ${inspect(thrown).split('\n', 1)[0]}`, async () => {
      for (const hook of ['before', 'after', 'around', 'onEvent'] as const) {
        const fail = (): never => {
          throw thrown as Error;
        };

        const { errors } = await run([defineAdvisor({ name: 'mine', order: 1, [hook]: fail })]);

        expect(errors).to.deep.equal([thrown]);
      }
    });
  }
});
