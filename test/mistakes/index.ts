import { ADVISORS } from './advisors.js';
import { ANSWERS } from './answers.js';
import { APPROVALS } from './approvals.js';
import { FIRST_PROGRAM } from './first-program.js';
import type { Mistake } from './mistake.js';
import { TOOLS } from './tools.js';

export const MISTAKES: Readonly<Record<string, readonly Mistake[]>> = {
  'a first program': FIRST_PROGRAM,
  tools: TOOLS,
  advisors: ADVISORS,
  approvals: APPROVALS,
  answers: ANSWERS,
};
