import { expect } from 'chai';
import { z } from 'zod';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  StructuredOutputError,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { CHAT_WIRES } from '../../support/chat-wires.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';

const ID = '9007199254740993';
const integer = { type: 'object', properties: { id: { type: 'integer' } } } as const;

describe('large integers', () => {
  for (const mode of MODES) {
    it(`[D100] of arguments are refused before a person is asked (${mode})`, async () => {
      const [removed, asked]: [unknown[], unknown[]] = [[], []];
      const remove = defineTool({
        name: 'remove',
        effect: 'write',
        input: integer,
        execute: ({ id }) => removed.push(id),
      });
      const call = { name: 'remove', arguments: `{"id": ${ID}}` };
      const model = new ScriptedChatModel([{ toolCalls: [call] }, 'Done.']);
      const approval = new ApprovalAdvisor({
        decide: (request) => ({ type: asked.push(request) > 0 ? 'allow' : 'deny' }),
      });

      await runSpec(mode, ChatClient.create(model).prompt('?').tools(remove).advisors(approval));

      expect([removed, asked]).to.deep.equal([[], []]);
      expect(model.prompts[1]?.messages.at(-1))
        .to.have.property('content')
        .that.includes(
          `the integer ${ID} (position 7) is too large for a number, which would change its digits: write it as a text, "${ID}"`,
        );
    });

    it(`[D100] of structured output are refused (${mode})`, async () => {
      const model = new ScriptedChatModel([`{"id": ${ID}}`]);
      const spec = ChatClient.create(model).prompt('?');
      const schema = z.object({ id: z.number() });

      const run = mode === 'call' ? spec.call().entity(schema) : spec.stream().entity(schema);

      const error = (await failureOf(run)) as StructuredOutputError;
      expect(error).to.be.instanceOf(StructuredOutputError);
      expect(error.issues.join()).to.include(`the integer ${ID}`);
    });
  }

  for (const [what, id] of [
    ['a text', z.string()],
    ['a big integer', z.coerce.bigint()],
  ] as const)
    it(`[D100] keep their digits as ${what}`, async () => {
      const ids: unknown[] = [];
      const show = defineTool({
        name: 'show',
        input: z.object({ id }),
        inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
        execute: (args) => {
          ids.push(String(args.id));
          return { id: BigInt(args.id) };
        },
      });
      const call = { name: 'show', arguments: `{"id": "${ID}"}` };
      const model = new ScriptedChatModel([{ toolCalls: [call] }, 'Done.']);

      await ChatClient.create(model).prompt('?').tools(show).call().content();

      expect(ids).to.deep.equal([ID]);
      expect(model.prompts[1]?.messages.at(-1)).to.have.property('content', `{"id":"${ID}"}`);
    });

  for (const api of ['generateContent', 'ollama.chat'])
    it(`[D100] of arguments that ${api} sends as an object are refused`, async () => {
      const wire = CHAT_WIRES.find((each) => each.api === api);
      const body = wire?.callEvents.join('').replace('"UTC"', ID);
      const headers = { 'content-type': wire?.streamType ?? '' };
      const fetch = () => Promise.resolve(new Response(body, { headers }));
      const model = wire?.make('http://127.0.0.1:9', { fetch } as never);
      const zones: unknown[] = [];
      const now = defineTool({
        name: 'now',
        input: { type: 'object', properties: { zone: {} } },
        execute: ({ zone }) => zones.push(zone),
      });

      await failureOf(
        runSpec(
          'stream',
          ChatClient.create(model as never)
            .prompt('?')
            .tools(now),
        ),
      );

      expect(zones).to.deep.equal([]);
    });
});
