import { expect } from 'chai';
import { decodeMessage, encodeMessage, type AssistantMessage } from '../../../src/index.js';
import type { JsonObject } from '../../../src/core/internal/options.js';
import { toAssistantBlocks } from '../../../src/models/anthropic/assistant-content.js';
import { isJson, jsonList, loadCassettes } from '../../support/cassettes.js';
import { eventsOf, foldDocument, foldEvents } from './message-events.js';

/** A block without empty fields, and without the caller of a direct call. */
function essenceOf({ caller, citations, ...block }: JsonObject): JsonObject {
  const isDirect = !isJson(caller) || caller['type'] === 'direct';
  return {
    ...block,
    ...(!isDirect && { caller }),
    ...(jsonList(citations).length > 0 && { citations }),
  };
}

const isBlank = ({ type, text }: JsonObject): boolean => type === 'text' && !String(text).trim();

describe('recorded answers of the Messages API', () => {
  let answers: readonly JsonObject[];

  before(function () {
    answers = loadCassettes(this, 'messages').flatMap(({ interactions }) =>
      interactions.map(({ response }) => response.body).filter(isJson),
    );
    answers = answers.filter(({ type }) => type === 'message');
    expect(answers.length).to.be.above(100);
  });

  it('go back block by block after a memory has stored them', () => {
    for (const answer of answers) {
      const stored = decodeMessage(encodeMessage(foldDocument(answer).message));

      const blocks = toAssistantBlocks(stored as AssistantMessage);
      const received = jsonList(answer['content']).filter((block) => !isBlank(block));
      expect(blocks.map(essenceOf), String(answer['id'])).to.deep.equal(received.map(essenceOf));
    }
  });

  it('are the same as streams of their pieces', () => {
    for (const answer of answers)
      expect(foldEvents(eventsOf(answer)).response, String(answer['id'])).to.deep.equal(
        foldDocument(answer),
      );
  });
});
