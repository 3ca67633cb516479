import { describe, expect, it } from 'vitest'
import type { SettleResult } from '../../../src/protocol/results.js'
import { openCore } from '../../support/core.js'
import { type CoreClient, createCoreClient, reconcileUntil } from '../../support/coreClient.js'
import { pollUntil } from '../../support/pollUntil.js'
import { createTestDatabase } from '../../support/postgres.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { createTronKey } from '../../support/tron/keys.js'
import type { TronPaymentBody } from '../../support/tron/payment.js'
import { useScene } from '../../support/useScene.js'
import { nileEnvironment } from './openScheme.js'
import { openScene } from './scene.js'

/* Numbers refer to the project's list of attacks on facilitators. */

const scene = useScene(openScene)

const balanceOf = (owner: string) => scene.chain.balanceOf(scene.token, owner)
const countBroadcasts = () => scene.chain.requests.filter((path) => path.endsWith('/broadcasthex')).length
const statusOf = async (service: CoreClient, { settlementId = '' }: SettleResult) =>
  (await service.core.useCases.core.getSettlement(settlementId))?.status

const mismatch = { isValid: false, invalidReason: 'account_permission_mismatch' }

const withPayload = (body: TronPaymentBody, change: object) => ({
  ...body,
  paymentPayload: { ...body.paymentPayload, payload: { ...body.paymentPayload.payload, ...change } },
})

describe('A41: a failure that one endpoint reports', () => {
  it('above the cross-check amount needs every healthy endpoint', async () => {
    const liar = await scene.openProxy()
    const service = await scene.open({
      url: `${liar.url},${scene.chain.url}`,
      environment: { TRON_CROSS_CHECK_AMOUNT: '10000', SETTLE_WAIT_SECONDS: '2' },
    })
    const { body, payTo } = await scene.plan()
    scene.chain.pause()
    const settling = service.settle(body)
    await pollUntil(() => scene.chain.ledger.countWaiting() > 0, 'the broadcast')
    for (const view of ['wallet', 'walletsolidity']) {
      liar.setFault(`/${view}/gettransactioninfobyid`, {
        kind: 'tamper',
        change: (_, [asked]) => ({
          id: Object(asked).value,
          blockNumber: 1,
          blockTimeStamp: 1,
          receipt: { result: 'OUT_OF_ENERGY' },
        }),
      })
    }
    scene.chain.resume()
    const result = await settling
    expect(result).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    await pollUntil(async () => (await balanceOf(payTo)) === 10_000n, 'the payment to arrive')
    await service.reconcile()
    expect(await statusOf(service, result)).toBe('pending')
    liar.clearFaults()
    await reconcileUntil(service, result, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true })
  })
})

describe('data that a payer controls', () => {
  // The largest int64: JSON holds it as a number, and JavaScript rounds it.
  const most = Number(2n ** 63n - 1n)

  it.each([
    ['a weight above 2^53', { threshold: 1, weight: most }, { isValid: true }],
    ['a weight that is the threshold after rounding', { threshold: most, weight: most }, mismatch],
    ['a threshold above 2^53', { threshold: most, weight: 1 }, mismatch],
    ['a weight that is no number', { threshold: 1, weight: Number.NaN }, mismatch],
  ])('takes no endpoint out of use: %s', async (_, { threshold, weight }, expected) => {
    const service = await scene.open({ url: `${scene.chain.url},${scene.chain.url}/` })
    const { body, payer } = await scene.plan()
    const keys = [{ address: payer.hexAddress, weight }]
    scene.chain.setOwnerPermission(payer.address, { threshold, keys })
    expect(await service.verify(body)).toMatchObject(expected)
    expect(service.core.listNetworks()[0]?.endpoints).toMatchObject([{ isUp: true }, { isUp: true }])
  })

  it('keeps no payment of others pending above the cross-check amount', async () => {
    const second = await scene.openProxy()
    const service = await scene.open({
      url: `${scene.chain.url},${second.url}`,
      environment: { TRON_CROSS_CHECK_AMOUNT: '10000' },
    })
    const attack = await scene.plan()
    const keys = [{ address: attack.payer.hexAddress, weight: most }]
    scene.chain.setOwnerPermission(attack.payer.address, { threshold: 1, keys })
    const honest = await scene.plan()
    let isSettled = false
    const settling = service.settle(honest.body).finally(() => {
      isSettled = true
    })
    await pollUntil(async () => {
      await service.verify(attack.body).catch(() => undefined)
      return isSettled
    }, 'the payment to be settled')
    expect(await settling).toMatchObject({ success: true })
  })
})

describe('one signed transfer at two facilitators', () => {
  it('earns a success at each: a recipient uses one, as docs/networks/tron.md says', async () => {
    const database = await createTestDatabase()
    const nodes = [await scene.openProxy(), await scene.openProxy()] as const
    const environment = nileEnvironment(nodes[1].url, scene.token)
    const other = createCoreClient(await openCore({ databaseUrl: database.url, environment }))
    try {
      const service = await scene.open({ url: nodes[0].url })
      const { body, payTo } = await scene.plan()
      scene.chain.pause()
      const answers = Promise.all([service.settle(body), other.settle(body)])
      // Each may send more than once.
      const haveBothSent = () => nodes.every((node) => node.count('/wallet/broadcasthex') > 0)
      await pollUntil(haveBothSent, 'both broadcasts')
      scene.chain.resume()
      expect((await answers).map(({ success }) => success)).toEqual([true, true])
      expect(await balanceOf(payTo)).toBe(10_000n)
    } finally {
      await other.core.close()
      await database.drop()
    }
  })
})

describe('A46: payers that make the facilitator delegate energy', () => {
  it('burn no more TRX for bandwidth than the hourly budget', async () => {
    const sponsor = createTronKey()
    scene.chain.fund(sponsor.address, 100_000_000)
    scene.chain.stake(sponsor.address, 100_000_000_000)
    const service = await scene.open({
      environment: {
        TRON_PRIVATE_KEY: sponsor.privateKey,
        TRON_SPONSOR_ENERGY: 'true',
        // 1 TRX: a delegation and its undelegation cost up to 0.6.
        TRON_SPONSOR_BANDWIDTH_SUN_PER_HOUR: '1000000',
      },
    })
    const plan = async () => {
      const payer = createTronKey()
      scene.chain.fund(payer.address, 0)
      return await scene.plan({ sun: 0, payer })
    }
    const first = await plan()
    expect(await service.settle(first.body)).toMatchObject({ success: true })
    await pollUntil(
      () => scene.chain.ledger.accounts().get(first.payer.hexAddress)?.delegatedFrom.size === 0,
      'the energy to be undelegated',
    )
    const second = await plan()
    const before = countBroadcasts()
    expect(await rejectionOf(service.settle(second.body))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(countBroadcasts()).toBe(before)
    expect(await balanceOf(second.payTo)).toBe(0n)
  })
})

describe('A59: what a refusal says', () => {
  it.each([
    ['is no hex', { signedTransaction: 'zz' }],
    ['is missing', { signedTransaction: undefined }],
    ['is no transaction', { signedTransaction: 'ab'.repeat(300) }],
  ])('names the payer of the authorization when the signed transaction %s', async (_, change) => {
    const service = await scene.open()
    const { body, payer } = await scene.plan()
    const changed = withPayload(body, change)
    expect(await service.verify(changed)).toMatchObject({ isValid: false, payer: payer.address })
    expect(await service.settle(changed)).toMatchObject({ success: false, payer: payer.address })
  })

  it.each([
    [
      'another network than the requirements',
      { accepted: 'tron:nile', required: 'tron:mainnet' },
      'network_mismatch',
    ],
    [
      'a network that is not configured',
      { accepted: 'tron:shasta', required: 'tron:shasta' },
      'invalid_network',
    ],
  ])('names the payer of the authorization of a payment for %s', async (_, networks, reason) => {
    const service = await scene.open()
    const { body, payer } = await scene.plan()
    const { paymentPayload, paymentRequirements } = body
    const changed = {
      ...body,
      paymentPayload: { ...paymentPayload, accepted: { ...paymentRequirements, network: networks.accepted } },
      paymentRequirements: { ...paymentRequirements, network: networks.required },
    }
    const named = { payer: payer.address }
    expect(await service.verify(changed)).toMatchObject({ invalidReason: reason, ...named })
    expect(await service.settle(changed)).toMatchObject({ errorReason: reason, ...named })
  })

  it('is duplicate_settlement in verify for a payment that was settled', async () => {
    const service = await scene.open()
    const { body, payer } = await scene.plan()
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await service.verify(body)).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
      payer: payer.address,
    })
  })
})
