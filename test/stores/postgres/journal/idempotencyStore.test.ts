import { describeIdempotencyStore, nothingInFront } from '../../../contracts/idempotencyStoreContract.js'

describeIdempotencyStore('the idempotency store', async () => nothingInFront)
