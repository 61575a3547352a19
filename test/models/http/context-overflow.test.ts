import { expect } from 'chai';
import { ModelCallError } from '../../../src/index.js';
import { HttpError, ReportedError, toModelError } from '../../../src/models/http/http-error.js';
import { isJson, loadCassettes, type RecordedResponse } from '../../support/cassettes.js';
import { OTHER_ERRORS, OVERFLOWS, type Wording } from '../../support/overflow-wordings.js';

const { signal: SIGNAL } = new AbortController();
const APIS = ['chat.completions', 'responses', 'messages', 'generateContent', 'cohere.chat.v2'];

const refused = ({ status = 400, message, code, type }: Wording): ModelCallError =>
  toModelError(
    new HttpError(status, new Headers(), { message, code, type }),
    SIGNAL,
    [],
  ) as ModelCallError;
const reported = (body: unknown): ModelCallError =>
  toModelError(new ReportedError(body), SIGNAL, []) as ModelCallError;

describe('the error of a request that is too long', () => {
  for (const wording of OVERFLOWS)
    it(`is recognized: ${wording.server} (${wording.source})`, () => {
      expect(refused(wording)).to.include({ contextOverflow: true, retryable: false });
    });

  for (const wording of OTHER_ERRORS)
    it(`is no other one: ${wording.server} (${wording.source})`, () => {
      expect(refused(wording).contextOverflow).to.equal(false);
    });

  for (const code of ['context_length_exceeded', 'model_context_window_exceeded'])
    it(`is recognized by the code ${code}, whatever its words`, () => {
      expect(reported({ code, message: 'quota' }).contextOverflow).to.equal(true);
      expect(reported({ type: code }).contextOverflow).to.equal(true);
    });

  it('is recognized behind a gateway that hides the words of the provider', () => {
    const raw = JSON.stringify({ error: { message: OVERFLOWS[0]?.message } });

    const error = reported({ message: 'Provider returned error', code: 400, metadata: { raw } });

    expect(error.contextOverflow).to.equal(true);
  });

  it('is not retried for a status that means a temporary failure', () => {
    const [wording] = OVERFLOWS;

    const error = refused({ ...(wording as Wording), status: 503 });

    expect(error).to.include({ contextOverflow: true, retryable: false });
  });

  it('is recognized for a model of an application, by what its server reported', () => {
    const providerMessage = OVERFLOWS[0]?.message;

    expect(new ModelCallError('no', { status: 400, providerMessage }).contextOverflow).to.equal(
      true,
    );
    expect(
      new ModelCallError('no', { providerCode: 'context_length_exceeded' }).contextOverflow,
    ).to.equal(true);
  });

  it('has a flag that a model of an application can set', () => {
    expect(new ModelCallError('too long', { contextOverflow: true }).contextOverflow).to.equal(
      true,
    );
    expect(new ModelCallError('no').contextOverflow).to.equal(false);
  });

  it('is found in the recordings exactly where it was recorded', function () {
    const flagged = [...APIS, 'bedrock.converse', 'ollama.chat', 'completions', 'embeddings']
      .flatMap((api) => loadCassettes(this, api))
      .filter(({ interactions }) => interactions.some(({ response }) => isOverflow(response)))
      .map(({ provider }) => provider);

    expect(flagged.toSorted()).to.deep.equal(['bedrock', 'google-vertex']);
  });
});

function isOverflow({ status, body, sse = [] }: RecordedResponse): boolean {
  const errorIn = (value: unknown): unknown => (isJson(value) ? (value['error'] ?? value) : value);
  if (status >= 400)
    return (
      toModelError(new HttpError(status, undefined, errorIn(body)), SIGNAL, []) as ModelCallError
    ).contextOverflow;
  return sse
    .filter((event) => event.includes('"error":{'))
    .some((event) => reported(errorIn(JSON.parse(event))).contextOverflow);
}
