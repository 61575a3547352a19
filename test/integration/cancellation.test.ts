import { describeCancellation } from '../support/cancellation-suite.js';

describeCancellation({ every: 3 });
