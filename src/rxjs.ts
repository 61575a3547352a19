/**
 * The only file that imports RxJS, and by deep paths: its index loads 223 files (40 to 85 ms at import), this loads about 20.
 * The classes are the same objects that `rxjs` exports, so Observables of this package and of the application mix freely.
 */
export { Observable } from 'rxjs/internal/Observable';
export { Subscriber } from 'rxjs/internal/Subscriber';
export { Subscription } from 'rxjs/internal/Subscription';
export type { TeardownLogic } from 'rxjs/internal/types';
export { filter } from 'rxjs/internal/operators/filter';
export { map } from 'rxjs/internal/operators/map';
export { isObservable } from 'rxjs/internal/util/isObservable';
export { reportUnhandledError } from 'rxjs/internal/util/reportUnhandledError';
