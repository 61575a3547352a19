import { expect } from 'chai';
import { compareQuestions } from '../../../advisors/response-cache/same-question.js';

/** Questions that look alike; none of them may get the answer to the other. */
const NEVER_SAME = [
  [`How long is 5' in cm?`, `How long is 5" in cm?`],
  ['What is 10²?', 'What is 102?'],
  ['What is 5!', 'What is 5'],
  ['What is 0,5 + ,5?', 'What is 0,5 + 5?'],
  ['Is -3 > 2?', 'Is -3 < 2?'],
  ['2 * (3 + 4)?', '(2 * 3) + 4?'],
  ['How do you say in French: thank you?', 'How do you say in French: please?'],
  ['How do you say it in French? Thank you.', 'How do you say it in French?'],
  ['Hello, Goodbye: which lyrics?', 'Goodbye: which lyrics?'],
  ['Fix it: if a:\n  b\n  c', 'Fix it: if a:\n  b\nc'],
  ['Does it help us?', 'Does it help US?'],
  ['us stocks', 'US stocks'],
  ['Is C better than C++?', 'Is C better than C?'],
  ['Flights from Paris to London', 'Flights from London to Paris'],
  ['flights from paris to london', 'flights from london to paris'],
  ['Can I open my account?', 'Can I open your account?'],
  ['Who is the president?', 'Who was the president?'],
  ['Who is he?', 'What is he?'],
  ['Do I pay before delivery?', 'Do I pay after delivery?'],
  ["Let's eat, grandma", "Let's eat grandma"],
  ['What is hepatitis A?', 'What is hepatitis?'],
  ['What is vitamin a?', 'What is vitamin b?'],
  ['Who plays in "It"?', 'Who plays in it?'],
  ["Who is Anna's boss?", 'Who is Anna, boss?'],
  ['Wie alt ist Anna?', 'Wie alt ist Hanna?'],
  ['Is the door locked?', 'Is the door unlocked?'],
  ['今天下雨吗', '今天不下雨吗'],
  ['5月3日に会えますか', '6月3日に会えますか'],
  ['Сколько стоит билет?', 'Сколько не стоит билет?'],
] as const;

const SAME = [
  ['What’s the capital of France?', 'what is capital of France'],
  ['How do I bake a cake?', 'How can I bake a cake'],
  ['Could you please tell me how to bake a cake?', 'How to bake a cake?'],
  ['I would like to know what love is.', 'Tell me what love is'],
  ['Hello, why is the sky blue?', 'Why is the  sky blue?'],
  ["Why can't I log in?", 'Why can not I log in?'],
  ['Is it 5 km to Rome?', 'Is it 5 km to Rome'],
  ['今天下雨吗？', '今天下雨吗?'],
] as const;

/** Only a judge knows. */
const UNSURE = [
  ['How do I cancel my order?', 'How do I revoke my order?'],
  ['weather in paris', 'weather in london'],
  ['Do I pay before delivery?', 'Do I pay after delivery?'],
] as const;

describe('compareQuestions', () => {
  for (const [one, other] of NEVER_SAME)
    it(`never takes as one ${JSON.stringify(one)} and ${JSON.stringify(other)}`, () => {
      expect(compareQuestions(one, other)).to.not.equal('same');
      expect(compareQuestions(other, one)).to.equal(compareQuestions(one, other));
    });

  for (const [one, other] of SAME)
    it(`takes as one ${JSON.stringify(one)} and ${JSON.stringify(other)}`, () => {
      expect([compareQuestions(one, other), compareQuestions(other, one)]).to.deep.equal([
        'same',
        'same',
      ]);
    });

  for (const [one, other] of UNSURE)
    it(`does not decide on ${JSON.stringify(one)} and ${JSON.stringify(other)}`, () => {
      expect(compareQuestions(one, other)).to.equal('unsure');
    });

  it('compares the longest texts in little time, whatever they repeat', () => {
    const start = performance.now();

    for (const part of ['(', "'", '"', '“', '.', '5', 'a ', '不', "' ", '5,'])
      compareQuestions(part.repeat(1_000 / part.length), `${part.repeat(500 / part.length)}x`);

    expect(performance.now() - start).to.be.below(2_000); // about 10 ms on a free core
  });
});
