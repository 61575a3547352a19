import { endOfString, parseJson, type JsonValue } from './json.js';

/** Characters that JSON strings have escaped only. */
const CONTROL: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
/** Words of Python for values of JSON. */
const PYTHON: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };

/**
 * Parses JSON with the usual faults of models: commas before a closing bracket, line breaks and tabs
 * in strings, and `True`, `False` and `None`.
 * @throws {@link JsonError} if it has others
 */
export function parseRepairedJson(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    const repaired = repairJson(text);
    if (repaired === text) throw error;
    return parseJson(repaired);
  }
}

function repairJson(text: string): string {
  let repaired = '';
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const start = quote < 0 ? text.length : quote;
    const end = quote < 0 ? start : endOfString(text, quote);
    repaired += repairOutside(text.slice(at, start));
    repaired += text.slice(start, end).replaceAll(/[\n\r\t]/g, (char) => CONTROL[char] ?? char);
    at = end;
  }
  return repaired;
}

/** Repairs a part between two strings. */
function repairOutside(text: string): string {
  return text
    .replaceAll(/,(?=\s*[}\]])/g, '')
    .replaceAll(/\b(?:True|False|None)\b/g, (word) => PYTHON[word] ?? word);
}
