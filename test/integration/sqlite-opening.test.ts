import { describeConcurrentOpening } from '../support/sqlite-opening.js';

describeConcurrentOpening({ processes: 2, files: 5 });
