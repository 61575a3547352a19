import { describeRecordedStreams } from '../support/recorded-streams-suite.js';
import { inFull } from '../support/sweep.js';

describeRecordedStreams({ streams: inFull(50, 20), splits: inFull(10_000, 2_500) });
