import { describeRecordedTraffic } from '../support/recorded-traffic-suite.js';

describeRecordedTraffic({ every: 20 });
