/** A tool call as servers send it. */
export const callOf = (name: string, args: string, id = 'c1'): object => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

/** JSON of lists within lists. */
export const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
