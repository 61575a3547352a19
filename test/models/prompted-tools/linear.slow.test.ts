import { expect } from 'chai';
import { AnswerReader } from '../../../src/models/prompted-tools/answer-reader.js';
import { syntaxFor } from '../../../src/models/prompted-tools/plan-syntax.js';
import { FORMATS } from '../../support/prompted-tools.js';

const LENGTH = 400_000;
/** Pieces that patterns begin with, or nearly match. */
const PIECES: readonly string[] = [
  '{| { "|{"tool_calls"|{"tool_calls":[|`|```|```json |"|\\| |[|a|*'.split('|'),
  ['\n', '<', '<tool_call>', '<tool_call> ', '<think>', '<think', 'tool_calls_1'],
  ['\nAction:', '\nAction:  ', '\nAction: x\n', '\nThought:', '\nThought:\nFinal Answer'],
].flat();
const TEXTS = PIECES.flatMap((piece) => {
  const long = piece.repeat(Math.ceil(LENGTH / piece.length));
  return [long, `{"tool_calls"${long}`, `<tool_call>${long}`, `\nAction: x${long}`];
});

describe('plans of a hostile model', function () {
  this.timeout(120_000);

  for (const format of FORMATS)
    it(`${format}: take linear time, whole and in small pieces`, () => {
      const syntax = syntaxFor(format, []);
      let slowest = 0;
      for (const text of TEXTS) {
        const start = performance.now();
        const reader = new AnswerReader(syntax, Infinity);
        reader.read(text);
        reader.end();
        syntax.readCalls(reader.plan ?? text);
        void reader.showsMark;
        syntaxFor(format, [text]);
        slowest = Math.max(slowest, performance.now() - start);
      }
      for (const text of TEXTS) {
        const start = performance.now();
        const reader = new AnswerReader(syntax, Infinity);
        for (let at = 0; at < 100_000; at += 5) {
          reader.read(text.slice(at, at + 5));
          reader.take();
        }
        slowest = Math.max(slowest, performance.now() - start);
      }

      console.log(`      slowest: ${Math.round(slowest)} ms`);
      expect(slowest).to.be.below(5_000);
    });
});
