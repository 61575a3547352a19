import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import {
  ChatClient,
  defineTool,
  ToolCallingAdvisor,
  ToolCallingManager,
  type ToolManager,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { MODES, runSpec } from '../../support/modes.js';

const look = defineTool({ name: 'look', execute: () => 'seen' });
const drop = defineTool({ name: 'drop', execute: () => 'gone' });
const call = (name: string) => ({ toolCalls: [{ id: name, name }] });

function clientOf(script: Script, manager: ToolManager) {
  const model = new ScriptedChatModel(script);
  const client = ChatClient.builder(model)
    .defaultTools(look, drop)
    .defaultAdvisors(new ToolCallingAdvisor({ manager }))
    .build();
  return { model, client };
}

describe('ToolManager', () => {
  const inner = new ToolCallingManager();

  for (const mode of MODES)
    describe(mode, () => {
      it('[D32] [D65] is any object with the methods of a ToolCallingManager', async () => {
        const log: string[] = [];
        const { client } = clientOf([call('look'), 'Done.'], {
          resolveToolDefinitions: (options) => inner.resolveToolDefinitions(options),
          executeToolCalls: (prompt, response, run) => {
            log.push(...callsOf(response.message).map(({ name }) => name));
            return inner.executeToolCalls(prompt, response, run);
          },
        });
        const { text, steps } = await runSpec(mode, client.prompt('?'));

        expect([text, log]).to.deep.equal(['Done.', ['look']]);
        expect(steps[0]?.toolCalls[0]).to.include({ status: 'finished' });
      });

      it('[D65] decides which definitions the model is offered', async () => {
        const { client, model } = clientOf([call('drop'), call('look'), 'Done.'], {
          resolveToolDefinitions: ({ tools = [], toolContext }) =>
            tools
              .filter(({ definition }) => toolContext?.['admin'] || definition.name !== 'drop')
              .map(({ definition }) => ({ ...definition, description: 'Allowed.' })),
          executeToolCalls: (...batch) => inner.executeToolCalls(...batch),
        });
        await runSpec(mode, client.prompt('?').toolContext({ admin: false }));

        expect(
          model.prompts[0]?.options.tools?.map(({ definition: { name, description } }) => [
            name,
            description,
          ]),
        ).to.deep.equal([['look', 'Allowed.']]);
        const results = model.prompts[2]?.messages.filter(({ role }) => role === 'tool') ?? [];
        expect(results[0]).to.have.property('content').that.includes('There is no tool "drop"');
        expect(results[1]).to.include({ content: 'seen' });
      });

      it('[D65] may offer definitions that it alone can carry out', async () => {
        const remote = { name: 'remote', description: 'Far.', inputSchema: { type: 'object' } };
        const { client, model } = clientOf([call('remote'), 'Done.'], {
          resolveToolDefinitions: () => [remote],
          executeToolCalls: (prompt, response, run) =>
            inner.executeToolCalls(prompt, response, {
              ...run,
              tools: [defineTool({ name: 'remote', execute: () => 'from afar' })],
            }),
        });
        await runSpec(mode, client.prompt('?'));

        expect(model.prompts[1]?.messages.at(-1)).to.include({ content: 'from afar' });
      });

      it('[D65] answers such a call in words if the manager does not', async () => {
        const remote = { name: 'remote', description: 'Far.', inputSchema: { type: 'object' } };
        const { client, model } = clientOf([call('remote'), 'Done.'], {
          resolveToolDefinitions: () => [remote],
          executeToolCalls: (...batch) => inner.executeToolCalls(...batch),
        });
        await runSpec(mode, client.prompt('?'));

        expect(model.prompts[1]?.messages.at(-1)).to.include({
          content: 'Only the manager of the tool loop can run "remote".',
        });
      });
    });

  it('[D65] resolves the definitions of the tools', () => {
    expect(inner.resolveToolDefinitions({ tools: [look] })).to.deep.equal([look.definition]);
    expect(inner.resolveToolDefinitions({})).to.deep.equal([]);
  });
});
