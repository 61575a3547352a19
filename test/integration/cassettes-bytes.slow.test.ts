import { describeRecordedStreams } from '../support/recorded-streams-suite.js';

describeRecordedStreams({ streams: 50, splits: 10_000 });
