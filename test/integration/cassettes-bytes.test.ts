import { describeRecordedStreams } from '../support/recorded-streams-suite.js';

describeRecordedStreams({ streams: 3, splits: 200 });
