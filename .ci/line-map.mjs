import { decode, encode } from '@jridgewell/sourcemap-codec';

/**
 * Reduces a source map to one segment per line: enough for breakpoints, stack traces and editors, at a
 * fraction of the size. Sources of bundled packages are left out, since they are not shipped.
 */
export function lineMap({ version, sources, mappings }) {
  const isOwn = sources.map((source) => !source.includes('node_modules/'));
  const lines = decode(mappings).map((segments) => {
    const first = segments.find(([, source]) => isOwn[source]);
    return first ? [[0, first[1], first[2], 0]] : [];
  });
  const shipped = sources.map((source, at) => (isOwn[at] ? source : null));
  return JSON.stringify({ version, sources: shipped, names: [], mappings: encode(lines) });
}
