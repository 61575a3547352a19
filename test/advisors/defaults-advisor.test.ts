import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  DefaultsAdvisor,
  defineTool,
  InvalidArgumentError,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../support/modes.js';

const noop = defineTool({ name: 'noop', execute: () => 'ok' });

describe('DefaultsAdvisor', () => {
  for (const [options, message] of [
    [{ options: { temperature: 'hot' } }, 'temperature'],
    [
      { options: { temprature: 1 } },
      'DefaultsAdvisor: there is no option `temprature`; did you mean `temperature`?',
    ],
    [{ system: ' ' }, 'DefaultsAdvisor: system must be a non-blank string'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new DefaultsAdvisor(options as never)).to.throw(InvalidArgumentError, message);
    });

  for (const mode of MODES) {
    it(`${mode}: sets what the request leaves open, on top of the options of the model`, async () => {
      const model = new ScriptedChatModel(['Yes.'], { model: 'm', temperature: 1, topP: 0.5 });
      const spec = ChatClient.create(model)
        .prompt('Well?')
        .options({ maxTokens: 10 })
        .advisors(new DefaultsAdvisor({ options: { temperature: 0, maxTokens: 99, seed: 7 } }));

      await runSpec(mode, spec);

      expect(model.prompts[0]?.options).to.include({
        model: 'm',
        temperature: 0,
        topP: 0.5,
        seed: 7,
        maxTokens: 10,
      });
    });

    it(`${mode}: adds a system message to requests without one`, async () => {
      const model = new ScriptedChatModel(['Yes.', 'No.']);
      const client = ChatClient.builder(model)
        .defaultAdvisors(new DefaultsAdvisor({ system: 'Be brief.' }))
        .build();

      await runSpec(mode, client.prompt('Well?'));
      await runSpec(mode, client.prompt('Well?').system('Be rude.'));

      const systems = model.prompts.map(({ systemMessage }) => systemMessage?.content);
      expect(systems).to.deep.equal(['Be brief.', 'Be rude.']);
    });

    it(`${mode}: may decide by the request, in each iteration`, async () => {
      const model = new ScriptedChatModel([{ toolCalls: [{ name: 'noop' }] }, 'Yes.']);
      const advisor = new DefaultsAdvisor({
        options: ({ iteration }) => (iteration === 0 ? { reasoningEffort: 'high' } : undefined),
        order: AdvisorOrder.TOOL_CALLING + 1,
      });

      await runSpec(mode, ChatClient.create(model).prompt('Well?').tools(noop).advisors(advisor));

      const efforts = model.prompts.map(({ options }) => options.reasoningEffort);
      expect(efforts).to.deep.equal(['high', undefined]);
    });

    it(`${mode}: rejects what a function returns that is no option`, async () => {
      const model = new ScriptedChatModel(['Yes.']);
      const advisor = new DefaultsAdvisor({ options: () => ({ heat: 1 }) as never });

      const error = await failureOf(
        runSpec(mode, ChatClient.create(model).prompt('Well?').advisors(advisor)),
      );

      expect(error).to.be.instanceOf(InvalidArgumentError);
      expect((error as Error).message).to.include('advisor "defaults": there is no option `heat`');
    });
  }
});
