import { describeIdempotencyStore, noCacheLayer } from '../../../contracts/idempotencyStoreContract.js'

describeIdempotencyStore('the idempotency store', async () => noCacheLayer)
