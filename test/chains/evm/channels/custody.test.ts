import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { createChannelAuthorizer, createCustody } from '../../../../src/chains/evm/channels/custody.js'
import { Secret } from '../../../../src/platform/secret.js'
import type { Explanation } from '../../../../src/protocol/explanations.js'
import { reconcileUntil } from '../../../support/coreClient.js'
import { readChannel, signClaimBatch } from '../../../support/evm/channels.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type Service, type ServiceOptions } from '../scene.js'
import { countSent } from '../strangers.js'
import {
  type Channel,
  type ChannelPlan,
  claimBody,
  depositBody,
  openChannelOnChain,
  planChannel,
  prefixed,
  refundBody,
  refundOrder,
  rowOf,
  sweepBody,
  voucherBody,
  withPayload,
} from './channelScene.js'

/* Channels whose receiverAuthorizer is this facilitator: who may rely on them, and for whom it signs. */

const scene = useScene(() => openScene({ hasBatchSettlement: true }))
const authorizer = createEoa()
let service: Service

const openService = (options: ServiceOptions = {}): Promise<Service> =>
  scene.open({
    ...options,
    environment: { EVM_CHANNEL_AUTHORIZER_KEY: authorizer.privateKey, ...options.environment },
  })

beforeEach(async () => {
  service = await openService()
})

const plan = (changes: ChannelPlan = {}): Channel => planChannel(scene.chain, { authorizer, ...changes })

const open = (changes: ChannelPlan = {}, amount?: bigint): Promise<Channel> =>
  openChannelOnChain(scene.chain, { authorizer, ...changes }, amount)

const unsigned = { claimAuthorizerSignature: undefined, refundAuthorizerSignature: undefined }

const unsignedClaim = async (channel: Channel, ...ceilings: readonly bigint[]) =>
  claimBody(channel, await Promise.all(ceilings.map((ceiling) => rowOf(channel, ceiling))), unsigned)

const unsignedRefund = (channel: Channel, order: Parameters<typeof refundOrder>[1]) =>
  refundOrder(channel, order, unsigned)

const listBindings = async () => {
  const { rows } = await scene.database
    .pool()
    .query(`select account, '0x' || encode(channel_id, 'hex') as id from channel_custody`)
  return rows
}

const accountOf = async ({ id }: Channel): Promise<string | undefined> =>
  (await listBindings()).find((row) => row.id === id)?.account

const mismatch = { isValid: false, invalidReason: prefixed('receiver_authorizer_mismatch') }
const refusedClaim = { success: false, errorReason: prefixed('authorizer_address_mismatch') }
const refusedRefund = { success: false, errorReason: prefixed('refund_authorizer_mismatch') }

describe('/supported and /accepts', () => {
  const termsOf = ({ core }: Service) =>
    core.useCases.core.listSupported().kinds.find(({ scheme }) => scheme === 'batch-settlement')?.extra

  it('names the authorizer where a key is set, and none without', async () => {
    const other = await scene.open()
    expect(termsOf(service)).toMatchObject({
      receiverAuthorizer: authorizer.address,
      delegatedRefund: true,
    })
    expect(termsOf(other)).toEqual({ assetTransferMethods: ['eip3009', 'permit2'] })
  })

  it('leave a server its own authorizer', async () => {
    const own = createEoa().address
    const { payTo, asset } = plan().requirements
    const draft = { scheme: 'batch-settlement', network: scene.chain.network, amount: '1000', asset, payTo }
    const { accepts } = await service.core.useCases.core.completeAccepts({
      accepts: [draft, { ...draft, extra: { receiverAuthorizer: own } }],
    })
    expect(accepts).toMatchObject([
      { extra: { receiverAuthorizer: authorizer.address } },
      { extra: { receiverAuthorizer: own } },
    ])
  })
})

describe('a delegated channel', () => {
  it('is opened, claimed, swept and refunded without a signature of its receiver', async () => {
    const channel = plan()
    const deposit = await depositBody(channel)
    expect(await service.verify(deposit, 'ada')).toMatchObject({ isValid: true })
    expect(await accountOf(channel)).toBe('ada')
    expect(await service.settle(deposit, 'ada')).toMatchObject({ success: true, amount: '10000' })
    expect(await service.verify(await voucherBody(channel, 2_000n), 'ada')).toMatchObject({ isValid: true })
    expect(await service.settle(await unsignedClaim(channel, 2_000n), 'ada')).toMatchObject({ success: true })
    expect(await service.settle(sweepBody(channel), 'ada')).toMatchObject({ success: true, amount: '2000' })
    const refund = await unsignedRefund(channel, { charged: 3_000n, amount: 7_000n })
    expect(await service.settle(refund, 'ada')).toMatchObject({ success: true, amount: '7000' })
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({
      balance: 3_000n,
      totalClaimed: 3_000n,
    })
    expect(await scene.chain.balanceOf(channel.config.receiver)).toBe(2_000n)
  })

  it('that the payer opened itself is bound by its first voucher', async () => {
    const channel = await open()
    const voucher = await voucherBody(channel, 2_000n)
    expect(await service.explain(voucher, 'ada')).toMatchObject({ verdict: 'valid' })
    expect(await accountOf(channel)).toBeUndefined()
    expect(await service.verify(voucher, 'ada')).toMatchObject({ isValid: true })
    expect(await accountOf(channel)).toBe('ada')
    expect(await service.settle(await unsignedClaim(channel, 2_000n), 'ada')).toMatchObject({ success: true })
  })

  it('is claimed and refunded again where every row was reached', async () => {
    const channel = await open()
    await service.verify(await voucherBody(channel, 2_000n), 'ada')
    const claim = await unsignedClaim(channel, 2_000n)
    await service.settle(claim, 'ada')
    expect(await service.settle(claim, 'ada')).toMatchObject({ success: true })
    const refund = await unsignedRefund(channel, { charged: 2_000n, amount: 8_000n })
    expect(await service.settle(refund, 'ada')).toMatchObject({ success: true, amount: '8000' })
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ balance: 2_000n })
  })

  it('leaves those of other authorizers as they are', async () => {
    const channel = await openChannelOnChain(scene.chain)
    expect(await service.verify(await voucherBody(channel, 2_000n))).toMatchObject({ isValid: true })
    expect(await service.settle(await unsignedClaim(channel, 2_000n), 'ada')).toMatchObject({
      success: false,
      errorReason: prefixed('authorizer_not_configured'),
    })
    expect(await service.settle(await claimBody(channel, [await rowOf(channel, 2_000n)]))).toMatchObject({
      success: true,
    })
    expect(await accountOf(channel)).toBeUndefined()
  })
})

describe('a caller without a key', () => {
  it('is refused every use of a delegated channel, and binds none', async () => {
    const channel = await open()
    expect(await service.verify(await voucherBody(channel, 2_000n))).toMatchObject(mismatch)
    expect(await service.verify(await refundBody(channel, 2_000n))).toMatchObject(mismatch)
    expect(await service.verify(await depositBody(channel))).toMatchObject(mismatch)
    expect(await service.settle(await depositBody(channel))).toMatchObject({
      success: false,
      errorReason: mismatch.invalidReason,
    })
    expect(await service.settle(await unsignedClaim(channel, 2_000n))).toMatchObject(refusedClaim)
    expect(await service.settle(await unsignedRefund(channel, { amount: 1_000n }))).toMatchObject(
      refusedRefund,
    )
    expect(await countSent(scene, service)).toBe(0)
    expect(await accountOf(channel)).toBeUndefined()
  })
})

describe('the signer', () => {
  it('signs nothing for channels of other accounts or authorizers, whatever asks it', async () => {
    const { chainId, network } = scene.chain
    const custody = createCustody(
      { chainId, network },
      [createChannelAuthorizer(new Secret(authorizer.privateKey), 0)],
      {
        findAccounts: async (channels) =>
          channels.map(({ channelId }) => (channelId === own.id ? 'ada' : null)),
        bind: async ({ account }) => ({ account }),
        recordRefund: async () => undefined,
        findRefund: async () => null,
      },
    )
    const own = plan()
    const name = ({ config, id }: Channel) => ({ config, channelId: id })
    const row = (channel: Channel) => ({
      ...name(channel),
      maxClaimable: 2_000n,
      totalClaimed: 1_000n,
      signature: '0x' as const,
    })
    const order = { nonce: 0n, amount: 1_000n }
    const foreign = planChannel(scene.chain, { payTo: own.config.receiver })
    const rows = [await rowOf(own, 2_000n, 1_000n)]
    expect(await custody.signClaims([row(own)], 'ada')).toBe(
      await signClaimBatch(scene.chain, authorizer, rows),
    )
    for (const caller of ['eve', 'anonymous', null]) {
      await expect(custody.signClaims([row(own)], caller)).rejects.toThrow('Nothing is signed')
      await expect(custody.signRefund(name(own), { ...order, caller })).rejects.toThrow('Nothing is signed')
    }
    for (const other of [plan(), foreign]) {
      await expect(custody.signClaims([row(own), row(other)], 'ada')).rejects.toThrow('Nothing is signed')
      await expect(custody.signRefund(name(other), { ...order, caller: 'ada' })).rejects.toThrow(
        'Nothing is signed',
      )
    }
  })
})

describe('an explanation', () => {
  it('says what a verification would answer, and binds nothing', async () => {
    const [bound, unbound] = [await open(), plan()]
    await service.verify(await voucherBody(bound, 2_000n), 'merchant')
    const stateOf = (rules: Explanation['rules']) => rules.find(({ rule }) => rule === 'channel_terms')?.state
    const bodies = [await voucherBody(bound, 2_000n), await depositBody(bound), await depositBody(unbound)]
    const outcomes = async (caller?: string) => {
      const explained = await Promise.all(bodies.map((body) => service.explain(body, caller)))
      return explained.map(({ rules }) => stateOf(rules))
    }
    expect(await outcomes('merchant')).toEqual(['passed', 'passed', 'passed'])
    expect(await outcomes('payer')).toEqual(['failed', 'failed', 'passed'])
    expect(await outcomes()).toEqual(['failed', 'failed', 'failed'])
    expect(await accountOf(unbound)).toBeUndefined()
  })
})

describe('a channel that is bound to a merchant', () => {
  const openBound = async (): Promise<Channel> => {
    const channel = await open()
    expect(await service.verify(await voucherBody(channel, 2_000n), 'merchant')).toMatchObject({
      isValid: true,
    })
    return channel
  }

  it('is not refunded to a payer that registers a key of its own', async () => {
    const channel = await openBound()
    const full = await unsignedRefund(channel, { amount: 10_000n })
    expect(await service.settle(full, 'payer')).toMatchObject(refusedRefund)
    expect(await service.verify(await refundBody(channel, 2_000n), 'payer')).toMatchObject(mismatch)
    expect(await service.verify(await voucherBody(channel, 2_000n), 'payer')).toMatchObject(mismatch)
    expect(await service.settle(await depositBody(channel), 'payer')).toMatchObject({
      success: false,
      errorReason: mismatch.invalidReason,
    })
    expect(await countSent(scene, service)).toBe(0)
    expect(await accountOf(channel)).toBe('merchant')
  })

  it('is not claimed by a rival, whose message names the row', async () => {
    const channel = await openBound()
    const own = await open({ payTo: channel.config.receiver })
    await service.verify(await voucherBody(own, 1_000n), 'rival')
    const rows = [await rowOf(own, 1_000n), await rowOf(channel, 2_000n)]
    const answer = await service.settle(await claimBody(channel, rows, unsigned), 'rival')
    expect(answer).toMatchObject(refusedClaim)
    expect(answer.errorMessage).toContain(`payload.claims.1 (channel ${channel.id})`)
    // Also by a signature of ours, which everyone can read once it is on the chain.
    expect(await service.settle(await claimBody(channel, rows), 'rival')).toMatchObject(refusedClaim)
    expect(await countSent(scene, service)).toBe(0)
  })

  it('is refunded with claims of its own alone', async () => {
    const [channel, other] = [await openBound(), await openBound()]
    const refund = withPayload(await unsignedRefund(channel, { charged: 2_000n, amount: 8_000n }), {
      claims: Object((await unsignedClaim(other, 2_000n)).paymentPayload.payload).claims,
    })
    expect(await service.settle(refund, 'merchant')).toMatchObject({
      success: false,
      errorReason: prefixed('channel_id_mismatch'),
    })
  })
})

describe('a channel that its payer binds first', () => {
  it('is worth nothing to the merchant, which delivers nothing', async () => {
    const channel = await open()
    expect(await service.verify(await voucherBody(channel, 1_000n), 'payer')).toMatchObject({ isValid: true })
    expect(await service.verify(await voucherBody(channel, 2_000n), 'merchant')).toMatchObject(mismatch)
    expect(await service.verify(await depositBody(channel), 'merchant')).toMatchObject(mismatch)
  })

  it("by a deposit that the merchant verified is the merchant's", async () => {
    const channel = plan()
    const deposit = await depositBody(channel)
    expect(await service.verify(deposit, 'merchant')).toMatchObject({ isValid: true })
    expect(await service.settle(deposit, 'payer')).toMatchObject({ success: false })
    expect(await service.settle(deposit, 'merchant')).toMatchObject({ success: true })
  })
})

describe('two instances', () => {
  it('bind a channel once, whichever account comes first, and sign for it alike', async () => {
    const other = await openService()
    const channel = plan()
    const deposit = await depositBody(channel)
    const verdicts = await Promise.all([service.verify(deposit, 'ada'), other.verify(deposit, 'eve')])
    expect(verdicts.filter(({ isValid }) => isValid)).toHaveLength(1)
    expect(verdicts.find(({ isValid }) => !isValid)).toMatchObject(mismatch)
    const owner = (await accountOf(channel)) ?? ''
    const loser = owner === 'ada' ? 'eve' : 'ada'
    expect(await other.settle(deposit, loser)).toMatchObject({ success: false })
    expect(await other.settle(deposit, owner)).toMatchObject({ success: true })
    expect(await service.settle(await unsignedClaim(channel, 2_000n), owner)).toMatchObject({ success: true })
  })

  it('keep the binding where one dies before it sends the deposit', async () => {
    const proxy = await scene.openProxy()
    const dying = await openService({ rpcUrls: [proxy.url] })
    const channel = plan()
    const deposit = await depositBody(channel)
    expect(await dying.verify(deposit, 'merchant')).toMatchObject({ isValid: true })
    proxy.setFault('*', { kind: 'refuse' })
    await expect(dying.settle(deposit, 'merchant')).rejects.toThrow()
    expect(await service.settle(deposit, 'payer')).toMatchObject({ errorReason: mismatch.invalidReason })
    expect(await service.settle(deposit, 'merchant')).toMatchObject({ success: true })
  })

  it('send what one recorded and signed, also the one that has no key', async () => {
    const proxy = await scene.openProxy()
    const dying = await openService({ rpcUrls: [proxy.url], environment: { SETTLE_WAIT_SECONDS: '2' } })
    const channel = await open()
    await dying.verify(await voucherBody(channel, 2_000n), 'ada')
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    const refund = await unsignedRefund(channel, { charged: 2_000n, amount: 8_000n })
    const { settlementId = '', errorReason } = await dying.settle(refund, 'ada')
    expect(errorReason).toBe('settlement_pending')
    const other = await scene.open()
    await reconcileUntil(other, { settlementId }, 'confirmed')
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({
      balance: 2_000n,
      totalClaimed: 2_000n,
    })
  })
})

describe('without the table of bindings', () => {
  const rename = (from: string, to: string) =>
    scene.database.pool().query(`alter table ${from} rename to ${to}`)

  it('nothing verifies, and nothing is signed', async () => {
    const [known, unknown] = [await open(), await open()]
    await service.verify(await voucherBody(unknown, 1_000n), 'ada')
    const other = await openService()
    await rename('channel_custody', 'channel_custody_away')
    try {
      const rejected = (work: Promise<unknown>) =>
        work.then(
          () => 'answered',
          () => 'rejected',
        )
      const claim = await unsignedClaim(unknown, 1_000n)
      const refund = await unsignedRefund(unknown, { amount: 1_000n })
      expect(await rejected(other.verify(await voucherBody(known, 1_000n), 'ada'))).toBe('rejected')
      expect(await rejected(other.settle(await depositBody(known), 'ada'))).toBe('rejected')
      expect(await rejected(other.settle(claim, 'ada'))).toBe('rejected')
      expect(await rejected(other.settle(refund, 'ada'))).toBe('rejected')
    } finally {
      await rename('channel_custody_away', 'channel_custody')
    }
    expect(await countSent(scene, other)).toBe(0)
    expect(await accountOf(known)).toBeUndefined()
    expect(await other.settle(await unsignedClaim(unknown, 1_000n), 'ada')).toMatchObject({ success: true })
  })
})

describe('a receiver that an account has stated as its own', () => {
  it('is bound by that account only', async () => {
    const [owner, channel] = [randomUUID(), await open()]
    await scene.database.pool().query(
      `insert into recipient_statements (network, pay_to, account_id, memo, signed_claim, own_key)
       values ($1, $2, $3, false, false, true)`,
      [scene.chain.network, channel.config.receiver.toLowerCase(), owner],
    )
    const voucher = await voucherBody(channel, 1_000n)
    expect(await service.verify(voucher, 'payer')).toMatchObject(mismatch)
    expect(await service.verify(voucher, owner)).toMatchObject({ isValid: true })
  })
})

describe('an earlier key', () => {
  it('signs for channels that name it, and is offered to no new one', async () => {
    const channel = await open()
    await service.verify(await voucherBody(channel, 2_000n), 'ada')
    const next = createEoa()
    const rotated = await openService({
      environment: { EVM_CHANNEL_AUTHORIZER_KEY: `${next.privateKey},${authorizer.privateKey}` },
    })
    const [kind] = rotated.core.useCases.core
      .listSupported()
      .kinds.filter(({ scheme }) => scheme === 'batch-settlement')
    expect(kind?.extra).toMatchObject({ receiverAuthorizer: next.address })
    expect(await rotated.settle(await unsignedClaim(channel, 2_000n), 'ada')).toMatchObject({ success: true })
    const newer = await open({ authorizer: next, payTo: channel.config.receiver })
    await rotated.verify(await voucherBody(newer, 1_000n), 'ada')
    const rows = [await rowOf(channel, 3_000n), await rowOf(newer, 1_000n)]
    expect(await rotated.settle(await claimBody(channel, rows, unsigned), 'ada')).toMatchObject(refusedClaim)
    // Without the earlier key the channel is one of another authorizer.
    const without = await openService({ environment: { EVM_CHANNEL_AUTHORIZER_KEY: next.privateKey } })
    expect(await without.settle(await unsignedClaim(channel, 3_000n), 'ada')).toMatchObject({
      errorReason: prefixed('authorizer_not_configured'),
    })
  })

  it('and its signatures are in no line of the log', async () => {
    const lines: string[] = []
    const write = (fields: unknown, event: string) => void lines.push(JSON.stringify([fields, event]))
    const logger = { debug: write, info: write, warn: write, error: write }
    const logged = await openService({ logger })
    const channel = await open()
    await logged.verify(await voucherBody(channel, 2_000n), 'ada')
    await logged.settle(await unsignedClaim(channel, 2_000n), 'ada')
    await logged.settle(await unsignedRefund(channel, { amount: 1_000n }), 'rival')
    expect(lines.length).toBeGreaterThan(2)
    const signature = await signClaimBatch(scene.chain, authorizer, [await rowOf(channel, 2_000n)])
    for (const secret of [authorizer.privateKey, signature]) {
      expect(lines.join('\n').toLowerCase()).not.toContain(secret.slice(2).toLowerCase())
    }
  })
})
