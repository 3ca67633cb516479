import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Core } from '../../../src/compose.js'
import { openCore } from '../../support/core.js'
import { type LocalChain, startLocalChain } from '../../support/evm/localChain.js'
import { exactPayment } from '../../support/evm/payment.js'
import { createEoa } from '../../support/evm/wallets.js'
import { randomAddress } from '../../support/evm/authorization.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'

describe('settlePayment', () => {
  let chain: LocalChain
  let database: TestDatabase
  let core: Core
  const signal = new AbortController().signal

  beforeAll(async () => {
    chain = await startLocalChain()
    database = await createTestDatabase()
    core = await openCore({ chain, databaseUrl: database.url })
  })
  afterAll(async () => {
    await core.close()
    await database.drop()
    await chain.stop()
  })

  it('moves exactly the authorized value and tells the hash', async () => {
    const wallet = createEoa()
    await chain.mint(wallet.address, 1_000_000n)
    const payTo = randomAddress()
    const body = await exactPayment({ chain, wallet, payTo, amount: 10_000n })
    expect(await core.useCases.core.verifyPayment({ body, caller: 'anonymous', signal })).toEqual({
      isValid: true,
      payer: wallet.address,
    })
    const { result } = await core.useCases.core.settlePayment({ body, caller: 'anonymous', idempotencyKey: null })
    expect(result).toMatchObject({ success: true, network: chain.network, payer: wallet.address })
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
  })
  it('twenty', async () => {
    const wallet = createEoa()
    await chain.mint(wallet.address, 1_000_000n)
    const payTo = randomAddress()
    const body = await exactPayment({ chain, wallet, payTo, amount: 10_000n })
    const answers = await Promise.all(Array.from({ length: 20 }, () => core.useCases.core.settlePayment({ body, caller: 'anonymous', idempotencyKey: null })))
    console.log(answers.map((a) => a.result.success + ' ' + a.result.errorReason))
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
  })
})
