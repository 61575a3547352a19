import {
  connect,
  environment,
  type Api,
  type Connection,
  type ConnectionOptions,
} from '../http/connection.js';

/** Environment variable with another address, as in Google's own packages. */
const VARIABLE = 'GOOGLE_GEMINI_BASE_URL';
const VERTEX = /^https?:\/\/[a-z0-9.-]*aiplatform[a-z0-9.-]*\.googleapis\.com(?:[:/]|$)/;
/** A version in the path of an address. */
const VERSION = /^https?:\/\/[^/]+\/(?:.*\/)?v\d+(?:alpha|beta)?\d*(?:\/|$)/;

/** True for an address of Vertex AI. */
export function isVertex(baseURL: string): boolean {
  return VERTEX.test(baseURL);
}

/** The path of a model below the base URL, which may lack the version of the API. */
export function pathOf({ baseURL }: Connection, model: string): string {
  const version = VERSION.test(baseURL) ? '' : '/v1beta';
  const path = model.split('/').map(encodeURIComponent).join('/');
  return `${version}/${model.includes('/') ? path : `models/${path}`}`;
}

/** Access tokens go as `authorization`, keys of the Gemini API in a header of their own. */
export function connectToGoogle(where: string, options: ConnectionOptions): Connection {
  const baseURL = options.baseURL ?? environment(VARIABLE) ?? '';
  const isToken = typeof options.apiKey === 'function' || isVertex(baseURL);
  const api: Api = {
    baseURL: 'https://generativelanguage.googleapis.com',
    baseURLVariable: VARIABLE,
    keyVariables: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'],
    headers: (key) => {
      if (key === undefined) return {};
      return isToken ? { authorization: `Bearer ${key}` } : { 'x-goog-api-key': key };
    },
  };
  return connect(where, options, api);
}
