/** Values that are not accepted as names of SQL schemas and as prefixes of tables. */
export const BAD_SQL_NAMES = [
  '',
  '1a',
  'a b',
  'a"b',
  "a'b",
  'a;DROP TABLE x',
  'a.b',
  'ü',
  'a-b',
  'x'.repeat(64),
  'a\0',
  7,
  null,
  {},
  '"a"',
  'a--',
] as unknown as readonly string[];

export const SQL_NAME_RULE = /must be a letter or "_" and then up to 39 letters, digits or "_"/;
