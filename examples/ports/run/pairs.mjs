// Answers of the model for each pair, and lines that the programs then print.
import assert from 'node:assert/strict';

const SHOP_ANSWERS = [
  { text: 'I look it up.', calls: [['find_order', { number: '42' }]] },
  { calls: [['in_dollars', { amount: 40, currency: 'EUR' }]] },
  { text: 'It cost 50 dollars.' },
  { text: 'One moment.', calls: [['find_order', { number: '42' }]] },
  { text: 'I am sorry.', calls: [['hand_over', { reason: 'Order 42 is broken' }]] },
];

const REFUND_ANSWERS = [
  { calls: [['find_order', { number: '42' }]] },
  { text: 'It cost 40 euros, Anna.' },
  { text: 'I am sorry.' },
  { text: 'I ask for the refund.', calls: [['refund', { number: '42', amount: 40 }]] },
  { text: 'The 40 euros are on their way, Anna.' },
];
/** Answer to requests without tools, which ask for a summary. */
export const SUMMARY = 'Anna paid 40 euros for order 42.';
const isSummaryRequest = ({ tools }) => tools === undefined;

/** By the first part of the names of their files. */
export const PAIRS = {
  'ai-sdk': {
    answerOf: (_, earlier) => SHOP_ANSWERS[earlier.length],
    /** True for a request that both sides have to send with equal contents. */
    isCompared: () => true,
    prints: [
      'text: dollars.',
      ' [["in_dollars",{"dollars":50}]]',
      'step: 1 calls, 25 tokens',
      '75',
      'hand_over "Ticket 7: Order 42 is broken"',
      '2 50',
    ],
    checkRequests(requests) {
      assert.equal(requests.length, SHOP_ANSWERS.length);
      const models = requests.map(({ model }) => model);
      assert.deepEqual(models, ['large', 'small', 'small', 'large', 'small']);
    },
  },
  langchain: {
    answerOf: (request, earlier) =>
      isSummaryRequest(request)
        ? { text: SUMMARY }
        : REFUND_ANSWERS[earlier.filter((each) => !isSummaryRequest(each)).length],
    isCompared: (request) => !isSummaryRequest(request),
    prints: [
      'It cost 40 euros, Anna.',
      'asks refund {"number":"42","amount":40}',
      'pays 40 euros for order 42',
      'The 40 euros are on their way, Anna.',
    ],
    checkRequests(requests) {
      const [summary] = requests.filter(isSummaryRequest);
      assert.equal(summary.model, 'small');
      assert.match(JSON.stringify(summary.messages), /What did order 42 cost\?/);
      const turn = requests.findLast((request) => !isSummaryRequest(request));
      assert.match(JSON.stringify(turn.messages), new RegExp(SUMMARY));
      assert.doesNotMatch(JSON.stringify(turn.messages), /What did order 42 cost\?/);
    },
  },
};
