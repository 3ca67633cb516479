import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { creditRanking, creditScore, refreshedCreditScore } from '../../src/protocol/credit.js'
import { settleResult } from '../../src/protocol/results.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { exactPayment } from '../support/evm/payment.js'
import { createEoa, type PayerWallet } from '../support/evm/wallets.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

const dollar = 1_000_000n

describe('a credit score, earned by payments on a chain', () => {
  const ada = createEoa()
  const shop = createEoa()
  let chain: LocalChain
  const database = useTestDatabase()
  let service: TestService

  beforeAll(async () => {
    chain = await startLocalChain({ chainId: 84_532, facilitatorCount: 1 })
    for (const { address } of [ada, shop]) await chain.mint(address, 100n * dollar)
    service = await startService({ chain, databaseUrl: database.url })
  })
  afterAll(async () => {
    await service.close()
    await chain.stop()
  })

  const pay = async (wallet: PayerWallet, payee: PayerWallet, amount: bigint) => {
    const body = await exactPayment({ chain, wallet, payTo: payee.address, amount })
    const response = await fetch(`${service.url}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(settleResult.parse(await response.json())).toMatchObject({ success: true })
  }

  const read = async ({ address }: PayerWallet) => {
    const response = await fetch(`${service.url}/v1/credit/score?wallet=${address}`)
    return creditScore.parse(await response.json())
  }

  const listTop = async () => {
    const response = await fetch(`${service.url}/v1/credit/top`)
    const { wallets } = creditRanking.parse(await response.json())
    return wallets.map(({ wallet, score }) => ({ wallet, score }))
  }

  it('is 0 before the first payment, and rises with it as the documentation says', async () => {
    expect(await read(ada)).toMatchObject({ score: 0, stats: { paymentCount: 0 } })
    await pay(ada, shop, dollar)
    // Points of one counted payment of one dollar, made today.
    const breakdown = { volumeScore: 18, frequencyScore: 32, reliabilityScore: 15, ageScore: 0 }
    const stats = { paymentCount: 1, totalVolume: '1000000', payeeCount: 1, successRate: 1 }
    expect(await read(ada)).toMatchObject({ score: 65, breakdown, stats })
    expect(await read(shop)).toMatchObject({ score: 0, stats: { paymentCount: 0 } })
  })

  it('is the same after a recount, and ranked', async () => {
    const response = await fetch(`${service.url}/v1/credit/refresh?wallet=${ada.address}`, { method: 'POST' })
    const { refresh, ...counted } = refreshedCreditScore.parse(await response.json())
    expect(refresh).toEqual({ isComplete: true, repairs: 0 })
    expect(counted).toEqual(await read(ada))
    const ranking = await pollUntil(async () => {
      const ranks = await listTop()
      return ranks.length > 0 && ranks
    }, 'the ranking')
    expect(ranking).toEqual([{ wallet: ada.address.toLowerCase(), score: 65 }])
  })

  it('is not raised by a payment of less than a cent', async () => {
    await pay(ada, createEoa(), 9_999n)
    expect(await read(ada)).toMatchObject({ score: 65, stats: { paymentCount: 1 } })
  })

  it('loses what comes back, and no more', async () => {
    await pay(shop, ada, 10_000n)
    const stats = { paymentCount: 1, totalVolume: '990000', returnedVolume: '10000', cyclePaymentCount: 0 }
    expect(await read(ada)).toMatchObject({ score: 64, stats })
    expect(await read(shop)).toMatchObject({ score: 0, stats: { paymentCount: 0, cyclePaymentCount: 1 } })
    await pay(shop, ada, 2n * dollar)
    const nothing = { paymentCount: 0, totalVolume: '0', returnedVolume: '1000000', cyclePaymentCount: 1 }
    expect(await read(ada)).toMatchObject({ score: 0, stats: nothing })
    // It paid one dollar and a cent more than it received.
    expect(await read(shop)).toMatchObject({ stats: { paymentCount: 2, totalVolume: '1010000' } })
  })
})
