export { DBOS, Error as DbosErrors, StatusString } from '@dbos-inc/dbos-sdk';
