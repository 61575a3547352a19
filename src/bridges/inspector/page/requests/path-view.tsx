import type { JSX } from 'preact';
import type { AdvisorChanges, InspectedRequest, RequestChange } from '../../inspected-turn.js';
import { ChangeView, hasDetail } from './change-view.js';
import { changesInWords, plural } from './change-words.js';
import type { Origins } from './origins.js';

/** Changes of one advisor that are shown before the reader asks for more. */
const OPEN = 6;

/** The way of a request from the application to the model: each advisor with what it changed. */
export function PathView({
  request,
  origins,
  onShow,
}: {
  readonly request: InspectedRequest;
  readonly origins: Origins;
  readonly onShow: (place: number) => void;
}): JSX.Element {
  const { messages, tools, steps, model } = request;
  return (
    <ol class="path">
      <li class="end">
        <p>
          <strong>Application</strong> asks
        </p>
      </li>
      {grouped(steps).map((group, at) =>
        group.changes.length === 0 ? (
          <li key={at} class="quiet">
            <p>
              <bdi>{group.advisors.join(', ')}</bdi> changed nothing
            </p>
          </li>
        ) : (
          <Step
            key={at}
            step={group}
            isOpen={!request.sincePrevious}
            origins={origins}
            onShow={onShow}
          />
        ),
      )}
      <li class="end">
        <p>
          <strong>
            <bdi>{model ?? 'Model'}</bdi>
          </strong>{' '}
          gets {plural(messages.length, 'message')}
          {tools.length > 0 && ` and ${plural(tools.length, 'tool')}`}
        </p>
      </li>
    </ol>
  );
}

interface Group {
  readonly advisors: readonly string[];
  readonly changes: readonly RequestChange[];
}

/** The steps, with neighbours that changed nothing as one. */
function grouped(steps: readonly AdvisorChanges[]): readonly Group[] {
  const groups: Group[] = [];
  for (const { advisor, changes } of steps) {
    const last = groups.at(-1);
    if (changes.length === 0 && last?.changes.length === 0)
      groups[groups.length - 1] = { advisors: [...last.advisors, advisor], changes };
    else groups.push({ advisors: [advisor], changes });
  }
  return groups;
}

function Step({
  step: { advisors, changes },
  isOpen,
  origins,
  onShow,
}: {
  readonly step: Group;
  readonly isOpen: boolean;
  readonly origins: Origins;
  readonly onShow: (place: number) => void;
}): JSX.Element {
  const title = (
    <>
      <bdi class="advisor-name">{advisors.join(', ')}</bdi> {changesInWords(changes)}
    </>
  );
  if (changes.every((change) => !hasDetail(change)))
    return (
      <li>
        <p>{title}</p>
      </li>
    );
  return (
    <li>
      <details open={isOpen && changes.length <= OPEN}>
        <summary>{title}</summary>
        <ul class="changes">
          {changes.map((change, at) => {
            const place = origins.places.get(change);
            return (
              <ChangeView
                key={at}
                change={change}
                onShow={place === undefined ? undefined : () => onShow(place)}
              />
            );
          })}
        </ul>
      </details>
    </li>
  );
}
