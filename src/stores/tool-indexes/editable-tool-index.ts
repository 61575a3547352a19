import { checkOption, rule } from '../../core/internal/options.js';
import {
  NON_EMPTY,
  checkIndexRequest,
  type ToolIndex,
  type ToolIndexRequest,
  type ToolReference,
  type ToolRemovalRequest,
  type ToolSearchRequest,
  type ToolSearchResponse,
} from './tool-index.js';

const NAMES = rule('an array', Array.isArray);

/** An index that adds and removes single tools, because it knows the tools of its sessions. */
export abstract class EditableToolIndex implements ToolIndex {
  /** Name of the index in errors. */
  protected abstract readonly where: string;

  abstract index(request: ToolIndexRequest): void | Promise<void>;
  abstract search(request: ToolSearchRequest): ToolSearchResponse | Promise<ToolSearchResponse>;
  abstract clear(session: string): void | Promise<void>;
  abstract close(): void | Promise<void>;

  /** The tools of a session. */
  protected abstract referencesOf(session: string): readonly ToolReference[];

  /**
   * Adds tools to a session; one of the same name is replaced.
   * @throws {@link InvalidArgumentError} if a reference is invalid; whatever `index` throws
   */
  add(request: ToolIndexRequest): ReturnType<this['index']> {
    checkIndexRequest(request, `${this.where}.add`);
    const all = [...this.referencesOf(request.session), ...request.references];
    const byName = new Map(all.map((reference) => [reference.name, reference]));
    return this.replace({ ...request, references: [...byName.values()] });
  }

  /**
   * Removes tools from a session by their names; unknown names are ignored.
   * @throws {@link InvalidArgumentError} if the request is invalid; whatever `index` throws
   */
  remove({ session, names }: ToolRemovalRequest): ReturnType<this['index']> {
    checkOption(`${this.where}.remove`, 'session', session, NON_EMPTY);
    checkOption(`${this.where}.remove`, 'names', names, NAMES);
    const removed = new Set(names);
    const references = this.referencesOf(session).filter(({ name }) => !removed.has(name));
    return this.replace({ session, references });
  }

  /** Number of tools that a session can find. */
  size(session: string): number {
    return this.referencesOf(session).length;
  }

  private replace(request: ToolIndexRequest): ReturnType<this['index']> {
    return this.index(request) as ReturnType<this['index']>;
  }
}
