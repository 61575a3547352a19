/** Keywords without influence on which values are valid. */
export const ANNOTATIONS: ReadonlySet<string> = new Set(
  'title description default examples $schema $comment $defs definitions deprecated'.split(' '),
);

/** Checks if a value surely keeps a limit. */
export const BOUNDS = new Map<string, (value: unknown, limit: number) => boolean>([
  ['minimum', (value, limit) => typeof value !== 'number' || value >= limit],
  ['maximum', (value, limit) => typeof value !== 'number' || value <= limit],
  ['exclusiveMinimum', (value, limit) => typeof value !== 'number' || value > limit],
  ['exclusiveMaximum', (value, limit) => typeof value !== 'number' || value < limit],
  // lengths count characters, and a character has one or two code units
  ['minLength', (value, limit) => typeof value !== 'string' || value.length >= limit * 2 - 1],
  ['maxLength', (value, limit) => typeof value !== 'string' || value.length <= limit],
  ['minItems', (value, limit) => !Array.isArray(value) || value.length >= limit],
  ['maxItems', (value, limit) => !Array.isArray(value) || value.length <= limit],
]);
