import type { Reading } from './reading.js';

/** Tags and character references of a page: a parser makes a node of each. */
const MAX_NODES = 50_000;
const MAX_DEPTH = 100;
const TAG = /<(\/?)([a-z][^\s/>]{0,60})|[<&]/gi;
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
/** Elements that end by themselves, at the next one of their kind. */
const OPTIONAL_END = /^(?:p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option|colgroup)$/;

/**
 * Checks markup before a parser gets it, in linear time: parsers take many seconds for markup that is
 * nested deeply, or has very many nodes. Returns the number of nodes.
 * @throws {@link DocumentReadError}
 */
export function checkMarkup(reading: Reading, html: string): number {
  const open: string[] = [];
  let nodes = 0;
  for (const [, slash, tag] of html.matchAll(TAG)) {
    if (++nodes > MAX_NODES)
      throw reading.tooLarge(`it has more than ${MAX_NODES} tags and character references`);
    const name = tag?.toLowerCase();
    if (name === undefined || VOID.test(name)) continue;
    if (slash === '/' || OPTIONAL_END.test(name)) close(open, name, slash !== '/');
    if (slash !== '/' && open.push(name) > MAX_DEPTH)
      throw reading.tooLarge(`its elements are nested deeper than ${MAX_DEPTH} levels`);
  }
  return nodes;
}

/** @param isImplied true for an end without a tag, which ends no element that needs one */
function close(open: string[], name: string, isImplied: boolean): void {
  const at = open.lastIndexOf(name);
  if (at < 0) return;
  if (isImplied && !open.slice(at).every((each) => OPTIONAL_END.test(each))) return;
  open.length = at;
}
