import { describeCutWrites } from '../support/cut-writes.js';

/** The first and the last bytes, and some between. */
const some = (length: number): readonly number[] =>
  Array.from({ length: length + 1 }, (_, at) => at).filter(
    (at) => at < 2 || at > length - 4 || at % Math.ceil(length / 12) === 0,
  );

describeCutWrites({ request: some, reply: some }, 12);
