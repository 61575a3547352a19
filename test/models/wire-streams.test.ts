import { callsOf } from '../../src/core/chat/message.js';
import { expect } from 'chai';
import { Prompt, type ChatResponse } from '../../src/index.js';
import { CALL, TEXT } from '../support/chat-wires.js';
import { answering } from '../support/in-process-fetch.js';
import { streamFrom } from '../support/wire-answers.js';
import { OTHER_CALL, TOKENS, WIRE_STREAMS } from '../support/wire-streams.js';

for (const [wire, streams] of WIRE_STREAMS)
  describe(`a stream of the wire ${wire.name ?? wire.api}`, () => {
    const read = async (events: readonly string[]): Promise<ChatResponse> => {
      const bytes = new TextEncoder().encode(events.join(''));
      const fetch = answering([bytes], wire.streamType);
      const model = wire.make('http://127.0.0.1:9', { fetch });
      return (await streamFrom(model, new Prompt('hi'))).response;
    };
    const callsIn = ({ message }: ChatResponse): readonly object[] =>
      callsOf(message).map(({ name, arguments: text }) => ({ name, arguments: JSON.parse(text) }));

    it('[F39] joins the pieces of each of two calls, and gives them different ids', async () => {
      const response = await read(streams.parallel);

      expect(callsIn(response)).to.deep.equal([CALL, OTHER_CALL]);
      expect(new Set(callsOf(response.message).map(({ id }) => id)).size).to.equal(2);
    });

    it('[F43] asks for tools if it has calls, whatever its finish reason is', async () => {
      const response = await read(streams.parallel);

      expect(response.hasToolCalls()).to.equal(true);
    });

    for (const [title, events] of [
      ['text', wire.textEvents],
      ['call', wire.callEvents],
    ] as const)
      it(`[F41] is the same with events without content at any position (${title})`, async () => {
        const { message, finishReason } = await read(events);

        for (const noise of streams.noise)
          for (let at = 1; at < events.length; at++) {
            const other = await read(events.toSpliced(at, 0, noise));
            const where = `${noise} at ${at}`;
            expect(withoutIds(other.message), where).to.deep.equal(withoutIds(message));
            expect(other.finishReason, where).to.equal(finishReason);
          }
      });

    it('[F42] reports its last usage, and no sum of what it repeats', async () => {
      const { text, usage } = await read(streams.usage);

      expect(text).to.equal(TEXT);
      expect(usage).to.include(TOKENS);
    });
  });

/** Some wires have no ids, and get random ones. */
function withoutIds({ toolCalls = [], ...message }: ChatResponse['message']): object {
  return { ...message, toolCalls: toolCalls.map((call) => ({ ...call, id: '' })) };
}
