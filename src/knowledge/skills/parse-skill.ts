import { InvalidArgumentError } from '../../core/errors/errors.js';
import { wellFormed } from '../../core/internal/well-formed.js';
import { checkSkill, type Skill } from './skill.js';

/** The text between two lines `---` at the start, and the text after it. */
const PARTS = /^\ufeff?---[ \t]*\r?\n([^]*?\r?\n)?---[ \t]*(?:\r?\n|$)([^]*)$/;
const KEY = /^([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*))?$/;

/**
 * Reads the text of a `SKILL.md`. Of its front matter `name` and `description` count: a text on the
 * line or on indented lines, in quotes or not, or a block (`|`, `>`). Other fields are left out.
 * @param where begins the messages of errors, such as a path
 * @throws {@link InvalidArgumentError} if the front matter is missing, or breaks the specification
 */
export function parseSkill(text: string, where = 'SKILL.md'): Skill {
  const [, front, body = ''] = PARTS.exec(wellFormed(text)) ?? [];
  if (front === undefined)
    throw new InvalidArgumentError(
      `${where}: the file must begin with front matter, name and description between two lines "---"`,
    );
  const fields = linesOf(front, where);
  const textOf = (key: string): string => scalarOf(fields.get(key) ?? [], `${where}: ${key}`);
  const skill = { name: textOf('name'), description: textOf('description'), body: body.trim() };
  checkSkill(where, skill);
  return skill;
}

/** The lines of each field of the first level; the first one is the rest of the line of its key. */
function linesOf(front: string, where: string): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  let lines: string[] | undefined;
  for (const line of front.split(/\r?\n/)) {
    const [, key, first = ''] = KEY.exec(line) ?? [];
    if (key !== undefined) {
      if (fields.has(key)) throw new InvalidArgumentError(`${where}: "${key}" is there twice`);
      fields.set(key, (lines = [first]));
    } else if (/^(\s|-|$)/.test(line)) lines?.push(line);
    else if (!line.startsWith('#'))
      throw new InvalidArgumentError(`${where}: the line ${JSON.stringify(line)} is no field`);
  }
  return fields;
}

function scalarOf([first = '', ...rest]: readonly string[], where: string): string {
  const [, style] = /^([|>])[-+\d]*\s*(?:#.*)?$/.exec(first.trim()) ?? [];
  if (style === '|') return unindented(rest).join('\n').trim();
  const folded = unindented(style ? rest : [first, ...rest])
    .map((line) => line.trim() || '\n')
    .join(' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .trim();
  return style ? folded : unquoted(folded, where);
}

function unindented(lines: readonly string[]): readonly string[] {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const least = Math.min(...indents);
  return lines.map((line) => line.slice(least));
}

function unquoted(text: string, where: string): string {
  const [, single] = /^'((?:[^']|'')*)'(?:\s+#.*)?$/.exec(text) ?? [];
  if (single !== undefined) return single.replaceAll("''", "'");
  const [, double] = /^("(?:[^"\\]|\\.)*")(?:\s+#.*)?$/.exec(text.replaceAll('\n', '\\n')) ?? [];
  if (double !== undefined) return parsedText(double, where);
  if (/^['"&*!%@`[{]/.test(text))
    throw new InvalidArgumentError(`${where} must be a text: put it in quotes`);
  const comment = text.search(/\s#/);
  return comment < 0 ? text : text.slice(0, comment).trimEnd();
}

function parsedText(quoted: string, where: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch (cause) {
    throw new InvalidArgumentError(`${where} has an escape that is not known`, { cause });
  }
}
