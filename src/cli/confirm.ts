import { createInterface } from 'node:readline';
import type { Terminal } from './terminal.js';

/** Asks a question on a terminal; the answer is no without `y` or `yes`, at the end of the input and at Ctrl-C. */
export function confirm(question: string, terminal: Terminal): Promise<boolean> {
  terminal.clearProgress();
  terminal.output.write(`${question} [y/N] `);
  const lines = createInterface({ input: terminal.input, signal: terminal.signal });
  return new Promise((resolve) => {
    lines.once('line', (line) => {
      resolve(/^\s*y(es)?\s*$/i.test(line));
      lines.close();
    });
    lines.once('close', () => resolve(false));
  });
}
