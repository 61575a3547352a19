import { inspectedTurn } from './inspector-fixtures.js';

/** Turns of a page: one with all parts, one that has failed, one that waits for a decision. */
export const BASE = inspectedTurn();
export const FAILED = inspectedTurn({
  id: 'hotel',
  startedAt: BASE.startedAt - 60_000,
  question: 'Book a hotel in Milan',
  questionText: 'Book a hotel in Milan',
  answer: '',
  answerText: '',
  conversationId: 'bert-2',
  outcome: 'failed',
  duration: 900,
  cost: 0.2,
  error: { name: 'ToolError', message: 'The hotel does not answer', advisor: 'retry' },
});
export const WAITING = inspectedTurn({
  id: 'payment',
  startedAt: BASE.startedAt - 120_000,
  question: 'Pay the bill',
  outcome: 'paused',
  pending: [
    {
      type: 'approval',
      id: 'a1',
      toolName: 'pay',
      callId: 'c1',
      arguments: { amount: 12 },
      argumentsText: '{"amount":12}',
      prompt: 'Pay 12 euros?',
      effect: 'write',
      scopes: ['once'],
      fingerprint: 'f',
    },
  ],
});
