import { expect } from 'chai';
import { z } from 'zod';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  BudgetAdvisor,
  defineTool,
  GuardAdvisor,
  piiRule,
  SteeringAdvisor,
  SteeringInbox,
  ToolCallingAdvisor,
  toolCallingAutoRegister,
  type Tool,
  type ToolEffect,
} from '../../../src/index.js';
import type { ScriptedAnswer, Script } from '../../../src/testing/index.js';
import { MODES } from '../../support/modes.js';
import { pauseOptions } from '../../support/paused-turns.js';
import { BY_USER, cachedClient, turnOf } from '../../support/response-cache.js';

const CALL: ScriptedAnswer = { toolCalls: [{ name: 'look' }] };
/** A call, then an answer, for each turn. */
const LOOKS: Script = ({ messages }, index) =>
  messages.at(-1)?.role === 'tool' ? `Answer ${index}.` : CALL;

function looking(effect?: ToolEffect, more: Partial<Parameters<typeof defineTool>[0]> = {}): Tool {
  return defineTool({ name: 'look', effect, execute: () => 'seen', ...more } as never);
}

describe('ResponseCacheAdvisor, answers that it does not keep', () => {
  for (const mode of MODES) {
    for (const [what, answer] of Object.entries<ScriptedAnswer>({
      'that is cut off': { text: 'Rom', finishReason: 'length' },
      'that a filter has ended': { text: 'Rome', finishReason: 'content_filter' },
      'with an unknown end': { text: 'Rome', finishReason: 'insufficient_system_resource' },
      'that is a refusal': { refusal: 'No.' },
      'that is blank': ' ',
    }))
      it(`${mode}: one ${what}`, async () => {
        const { client, model } = cachedClient({}, [answer, 'Rome.']);

        const first = await turnOf(client.prompt('?'), mode);
        const second = await turnOf(client.prompt('?'), mode);

        expect(first.error).to.equal(undefined);
        expect(second.text).to.equal('Rome.');
        expect(model.prompts).to.have.length(2);
      });

    it(`${mode}: one with open calls`, async () => {
      const { client } = cachedClient({}, [CALL, 'Rome.']);
      const spec = () => client.prompt('?').advisors(toolCallingAutoRegister(false));

      await turnOf(spec(), mode);
      const { text } = await turnOf(spec(), mode);

      expect(text).to.equal('Rome.');
    });

    it(`${mode}: an error`, async () => {
      const { client } = cachedClient({}, [new Error('busy'), 'Rome.']);

      const first = await turnOf(client.prompt('?'), mode);
      const second = await turnOf(client.prompt('?'), mode);

      expect(first.error).to.be.instanceOf(Error);
      expect(second.text).to.equal('Rome.');
    });

    for (const effect of ['read', 'idempotent', 'write', undefined] as const)
      it(`${mode}: one after a call of a tool with the effect ${effect}`, async () => {
        const { client, model } = cachedClient({}, LOOKS);
        const spec = () => client.prompt('?').tools(looking(effect));

        await turnOf(spec(), mode);
        const { text } = await turnOf(spec(), mode);

        expect(text).to.equal('Answer 3.');
        expect(model.prompts).to.have.length(4);
      });
  }

  it('reports the reason', async () => {
    const { client } = cachedClient({}, LOOKS);

    const { outcomes } = await turnOf(client.prompt('?').tools(looking('read')));

    expect(outcomes).to.deep.equal(['miss', 'refused tool-calls']);
  });

  for (const [tool, expected] of [
    [looking('read'), 'stored'],
    [looking('idempotent'), 'refused tool-calls'],
    [looking('write'), 'refused tool-calls'],
    [looking(), 'refused tool-calls'],
    [looking('read', { polls: true }), 'refused tool-calls'],
    [looking('read', { cacheable: false }), 'refused tool-calls'],
    [looking('read', { untrusted: true }), 'refused tool-calls'],
    [looking('read', { execute: () => Promise.reject(new Error('down')) }), 'refused tool-calls'],
  ] as const)
    it(`toolCalls 'read': ${expected} after a call of ${JSON.stringify(tool.metadata)}`, async () => {
      const { client } = cachedClient({ toolCalls: 'read' }, LOOKS);

      const { outcomes } = await turnOf(client.prompt('?').tools(tool));

      expect(outcomes).to.deep.equal(['miss', expected]);
    });

  it(`toolCalls 'read': what the tools see is part of the key`, async () => {
    const { client } = cachedClient({ toolCalls: 'read' }, LOOKS);
    const ask = (toolContext: Record<string, unknown>) =>
      turnOf(client.prompt('?').tools(looking('read')).toolContext(toolContext));

    const turns = [];
    for (const user of ['anna', 'ben', 'anna']) turns.push(await ask({ user }));
    const withClass = await ask({ user: new Map() });

    expect(turns.map(({ text }) => text)).to.deep.equal(['Answer 1.', 'Answer 3.', 'Answer 1.']);
    expect(withClass.outcomes).to.deep.equal(['refused not-json']);
  });

  it('one of a turn that was stopped at a limit', async () => {
    const loop = new ToolCallingAdvisor({ maxIterations: 1 });
    const { client } = cachedClient({ toolCalls: 'read' }, [CALL, 'Stopped.'], loop);

    const { text, outcomes } = await turnOf(client.prompt('?').tools(looking('read')));

    expect([text, outcomes]).to.deep.equal(['Stopped.', ['miss', 'refused incomplete']]);
  });

  it('one of a turn that a budget has ended', async () => {
    const budget = new BudgetAdvisor({ maxModelCalls: 2 });
    const script: Script = (_, index) => (index < 1 ? CALL : { text: 'Spent.', toolCalls: [] });
    const { client } = cachedClient({ toolCalls: 'read' }, script, budget);

    const { response, outcomes } = await turnOf(client.prompt('?').tools(looking('read')));

    expect(response?.metadata?.['limit']).to.not.equal(undefined);
    expect(outcomes).to.deep.equal(['miss', 'refused incomplete']);
  });

  it('one of a turn that waits for a person', async () => {
    const approval = new ApprovalAdvisor({ policy: () => 'ask', pause: pauseOptions() });
    const { client } = cachedClient({ toolCalls: 'read' }, LOOKS, approval);

    const { response, outcomes } = await turnOf(client.prompt('?').tools(looking('read')));

    expect(response?.finishReason).to.equal('paused');
    expect(outcomes).to.not.include('stored');
  });

  it('one of a turn into which the user has written', async () => {
    const inbox = new SteeringInbox();
    const tool = looking('read', { execute: () => (void inbox.send('In French.'), 'seen') });
    const steering = new SteeringAdvisor({ inbox });
    const { client } = cachedClient({ toolCalls: 'read' }, [CALL, 'Rome.'], steering);

    const { outcomes } = await turnOf(client.prompt('?').tools(tool));

    expect(outcomes).to.deep.equal(['miss', 'refused steered']);
  });

  it('one without the output format of the request', async () => {
    const { client, model } = cachedClient({}, ['no JSON', '{"city":"Rome"}']);
    const city = () =>
      client
        .prompt('?')
        .call()
        .entity(z.object({ city: z.string() }));

    const first = await city().catch((error: unknown) => (error as Error).name);
    const later = [await city(), await city()];

    expect(first).to.equal('StructuredOutputError');
    expect(later).to.deep.equal([{ city: 'Rome' }, { city: 'Rome' }]);
    expect(model.prompts).to.have.length(2);
  });

  it('one that is too long', async () => {
    const { client } = cachedClient({ maxLength: 50 });

    const { outcomes } = await turnOf(client.prompt('?'));

    expect(outcomes).to.deep.equal(['miss', 'refused too-long']);
  });

  it('one with metadata that is no JSON', async () => {
    const { client } = cachedClient({}, [{ text: 'Rome.', metadata: { at: new Date(0) } }]);

    const { outcomes } = await turnOf(client.prompt('?'));

    expect(outcomes).to.deep.equal(['miss', 'refused not-json']);
  });
});

describe('ResponseCacheAdvisor, requests that it does not look up', () => {
  it('those without a scope', async () => {
    const { client, model } = cachedClient(BY_USER);

    const turns = [await turnOf(client.prompt('?')), await turnOf(client.prompt('?'))];

    expect(turns.map(({ outcomes }) => outcomes)).to.deep.equal([
      ['refused scope'],
      ['refused scope'],
    ]);
    expect(model.prompts).to.have.length(2);
  });

  it('those that the application excludes', async () => {
    const { client } = cachedClient({ cacheable: ({ prompt }) => prompt.options.seed !== 1 });

    const { outcomes } = await turnOf(client.prompt('?').options({ seed: 1 }));

    expect(outcomes).to.deep.equal(['refused cacheable']);
  });

  it('those with a message in which a guard has marked personal data', async () => {
    const guard = new GuardAdvisor({ input: [{ rules: piiRule(), action: 'mark' }] });
    const { client } = cachedClient({}, undefined, guard);

    const marked = await turnOf(client.prompt('Mail to anna@example.org?'));
    const plain = await turnOf(client.prompt('Mail?'));

    expect(marked.outcomes).to.deep.equal(['refused marked']);
    expect(plain.outcomes).to.deep.equal(['miss', 'stored']);
  });

  it('those with tools that the provider runs', async () => {
    const { client } = cachedClient();

    const { outcomes } = await turnOf(
      client.prompt('?').options({ providerTools: [{ type: 'web_search' }] }),
    );

    expect(outcomes).to.deep.equal(['refused provider-tools']);
  });

  it('a scope that is no text ends the turn', async () => {
    const { client, model } = cachedClient({ scope: () => '' });

    const { error } = await turnOf(client.prompt('?'));

    expect((error as Error).message).to.include('the result of scope must be a non-blank string');
    expect(model.prompts).to.have.length(0);
  });

  it('explain() warns of places where a hit is wrong', () => {
    const guard = new GuardAdvisor({ input: [{ rules: piiRule(), action: 'redact' }] });
    const { client } = cachedClient({ order: AdvisorOrder.GUARD - 1 }, undefined, guard);

    const { warnings } = client.explain();

    expect(warnings.join()).to.include('left of the input guard "guard"');
  });
});
