import { expect } from 'chai';
import OpenAI from 'openai';
import { ChatClient, defineTool, withToolNames } from '../../src/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import type { Json } from '../support/cassettes.js';
import {
  chunk,
  completion,
  sendEvents,
  sendJson,
  sendText,
  WireServer,
  type Exchange,
} from '../support/wire-server.js';

const ROUNDS = 12;
const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;

/** Calls the first tool on offer, by the name that it was sent, in each round; then answers. */
function answer(exchange: Exchange): void {
  const { body, index } = exchange;
  const [tool] = body['tools'] as { function: { name: string } }[];
  const call = {
    id: `c${index}`,
    type: 'function',
    function: { name: tool?.function.name, arguments: `{"round":${index}}` },
  };
  const isStream = body['stream'] === true;
  if (index === ROUNDS)
    return isStream ? sendText(exchange, 'Done.') : sendJson(exchange, completion('Done.'));
  if (isStream)
    return sendEvents(exchange, [
      chunk({ role: 'assistant', tool_calls: [{ index: 0, ...call }] }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ]);
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  return sendJson(
    exchange,
    completion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
  );
}

/** Every name in a request: of the tools, of the calls in its history. */
function namesIn(body: Json): readonly string[] {
  const offered = (body['tools'] as { function: { name: string } }[]).map(
    (tool) => tool.function.name,
  );
  const messages = body['messages'] as { tool_calls?: { function: { name: string } }[] }[];
  return [
    ...offered,
    ...messages.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => call.function.name)),
  ];
}

describe('withToolNames around OpenAIChatModel', () => {
  for (const mode of ['call', 'stream'] as const)
    it(`[F24] sends valid names in every request of a long loop, and runs the tools by their own names (${mode})`, async () => {
      const server = await WireServer.start(answer);
      try {
        const client = new OpenAI({ apiKey: 'key', baseURL: server.baseURL, maxRetries: 0 });
        const rounds: unknown[] = [];
        const own = defineTool({
          name: 'search',
          input: {
            type: 'object',
            properties: { round: { type: 'integer' } },
            required: ['round'],
          },
          execute: (args) => rounds.push(args['round']),
        });
        const tool = {
          ...own,
          name: 'maps.search',
          definition: { ...own.definition, name: 'maps.search' },
        };
        const spec = ChatClient.create(withToolNames(new OpenAIChatModel({ client, model: 'm' })))
          .prompt('Go.')
          .tools(tool);

        const pieces: string[] = [];
        if (mode === 'call') pieces.push((await spec.call().content()) ?? '');
        else
          await spec
            .stream()
            .content()
            .forEach((piece) => void pieces.push(piece));

        expect(pieces.join('')).to.equal('Done.');
        expect(rounds).to.deep.equal(Array.from({ length: ROUNDS }, (_, round) => round));
        expect(server.exchanges).to.have.length(ROUNDS + 1);
        for (const [round, { body }] of server.exchanges.entries()) {
          const names = namesIn(body);
          expect(names).to.have.length(round + 1);
          for (const name of names) expect(name).to.equal('maps_search').and.to.match(LEGAL);
        }
      } finally {
        await server.close();
      }
    });
});
