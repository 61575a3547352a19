import { truncate } from '../../src/core/internal/text.js';
import { MAX_DESCRIPTION, type ToolReference } from '../../src/stores/tool-indexes/tool-index.js';

const NOTHING_FOUND =
  'No tool fits. Describe in other words what the tool is to do, or continue without one.';

/** Formats the references that a search found as JSON for the model, each description on one line. */
export function searchResultText(references: readonly ToolReference[]): string {
  if (references.length === 0) return NOTHING_FOUND;
  return JSON.stringify(
    references.map(({ name, description }) => ({ name, description: oneLine(description) })),
  );
}

function oneLine(description: string): string {
  const line = description.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= MAX_DESCRIPTION) return line;
  const end = line.lastIndexOf(' ', MAX_DESCRIPTION);
  // scripts without spaces are cut between characters
  return `${end > MAX_DESCRIPTION / 2 ? line.slice(0, end) : truncate(line, MAX_DESCRIPTION - 1)}…`;
}
