import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../sdk/src/index.js'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { exactPayment } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

describe('a payment of more than the required amount', () => {
  let chain: LocalChain
  const database = useTestDatabase()
  const services: TestService[] = []

  beforeAll(async () => {
    chain = await startLocalChain({ facilitatorCount: 1 })
  })
  afterAll(async () => {
    await Promise.all(services.map((service) => service.close()))
    await chain.stop()
  })

  const openClient = async (environment: Readonly<Record<string, string>>) => {
    const service = await startService({ chain, databaseUrl: database.url, environment })
    services.push(service)
    return createClient({ url: service.url })
  }
  const sign = async (value: bigint) => {
    const wallet = createEoa()
    const payTo = randomAddress()
    await chain.mint(wallet.address, value)
    const authorization = { value: String(value) }
    return { payTo, payment: await exactPayment({ chain, wallet, payTo, amount: 10_000n, authorization }) }
  }

  it('is settled, and all that was signed is transferred', async () => {
    const client = await openClient({})
    const { payment, payTo } = await sign(10_001n)
    expect(await client.verify(payment)).toMatchObject({ isValid: true })
    expect(await client.settle(payment)).toMatchObject({ success: true, amount: '10001' })
    expect(await chain.balanceOf(payTo)).toBe(10_001n)
  })

  it('is refused where EXACT_AMOUNT is equal, and an equal one is settled', async () => {
    const client = await openClient({ EXACT_AMOUNT: 'equal' })
    const more = await sign(10_001n)
    expect(await client.verify(more.payment)).toMatchObject({
      isValid: false,
      invalidReason: 'amount_mismatch',
    })
    expect(await client.settle(more.payment)).toMatchObject({
      success: false,
      errorReason: 'amount_mismatch',
    })
    expect(await chain.balanceOf(more.payTo)).toBe(0n)
    const equal = await sign(10_000n)
    expect(await client.settle(equal.payment)).toMatchObject({ success: true, amount: '10000' })
    const { data } = await client.api.GET('/info')
    expect(data?.features).toMatchObject({ exactAmount: 'equal' })
  })
})
