import { encodeAddress } from '@polkadot/util-crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readDirectBody } from '../../support/directScheme.js'
import { type AssetHub, startAssetHub } from '../../support/polkadot/assetHub.js'
import { createKey, type PolkadotKey } from '../../support/polkadot/keys.js'
import {
  type Call,
  callsOf,
  type ProofOptions,
  pay,
  polkadotPayment,
  submit,
} from '../../support/polkadot/payment.js'
import { usdc, usdt } from '../../support/polkadot/westend.js'
import { pollUntil } from '../../support/pollUntil.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'
import { shiftedClock } from '../../support/shiftedClock.js'
import { openScheme, westendEnvironment } from './openScheme.js'

/** Pitfalls of Asset Hub, on its real runtime. */

type Opened = Awaited<ReturnType<typeof openScheme>>

const price = 10_000n
let hub: AssetHub
let proxy: RpcProxy
let opened: Opened
let [payer, merchant, stranger, owner]: PolkadotKey[] = []
let calls: ReturnType<typeof callsOf>
/** A payment of the price, for what does not depend on its block. */
let paid: string

const get = (key: PolkadotKey | undefined): PolkadotKey => {
  if (key === undefined) throw new Error('The chain has not started')
  return key
}

const rich = { native: 10n ** 16n, tokens: { [usdt]: 10n ** 9n, [usdc]: 10n ** 9n } }

beforeAll(async () => {
  hub = await startAssetHub()
  ;[payer, merchant, stranger, owner] = [createKey(), createKey(), createKey(), createKey()]
  for (const key of [payer, stranger, owner]) await hub.fund(get(key).address, rich)
  await hub.fund(get(merchant).address, { native: 10n ** 16n, tokens: { [usdt]: 1n, [usdc]: 1n } })
  calls = callsOf(hub)
  proxy = await startRpcProxy(hub.url)
  opened = await openScheme(westendEnvironment(proxy.url))
  paid = await payAs(payer, transfer())
})

afterAll(async () => {
  await opened.close()
  await proxy.stop()
  await hub.stop()
})

const proofOf = (extrinsicHash: string, options: Partial<ProofOptions> = {}) =>
  polkadotPayment({
    hub,
    extrinsicHash,
    from: get(payer).address,
    payTo: get(merchant).address,
    amount: price,
    // Longer than these tests take.
    maxTimeoutSeconds: 3_600,
    ...options,
  })

const verify = async (extrinsicHash: string, options: Partial<ProofOptions> = {}) => {
  const verdict = await opened.scheme.verify(readDirectBody(proofOf(extrinsicHash, options)), {
    isAwaited: () => true,
  })
  return verdict.isValid ? 'valid' : verdict.reason
}

const transfer = (amount = price, to = get(merchant).address, asset = usdt): Call =>
  calls.transfer(to, amount, asset)
const unaffordable = 10n ** 15n
const batch = (kind: 'batch' | 'batchAll' | 'forceBatch', members: readonly Call[]): Call =>
  calls.find('utility', kind)(members)
const payAs = (key: PolkadotKey | undefined, call: Call) => pay(hub, get(key), call)

/** Pays every row in one block. */
const payAll = (rows: readonly (readonly [string, ...unknown[], () => Call])[]) => {
  const hashes = new Map<string, string>()
  beforeAll(async () => {
    let nonce = await hub.nonceOf(get(payer).address)
    for (const row of rows) {
      const call = row.at(-1)
      if (typeof call !== 'function') continue
      hashes.set(row[0], await submit(hub, get(payer), call(), { nonce }))
      nonce += 1
    }
    await hub.mine()
  })
  return (name: string): string => hashes.get(name) ?? ''
}

describe('a payment is accepted', () => {
  const rows: [string, () => Call][] = [
    ['by assets.transferKeepAlive', () => transfer()],
    ['by assets.transfer', () => calls.find('assets', 'transfer')(usdt, get(merchant).address, price)],
    ['in parts, which add up', () => batch('batchAll', [transfer(4_000n), transfer(6_000n)])],
    [
      'beside a payment to another account',
      () => batch('batch', [transfer(), transfer(7n, get(owner).address)]),
    ],
  ]
  const hashOf = payAll(rows)

  it.each(rows)('%s', async (name) => {
    expect(await verify(hashOf(name))).toBe('valid')
  })

  it('whatever SS58 prefix its addresses have', async () => {
    const from = encodeAddress(get(payer).publicKey, 0)
    const payTo = encodeAddress(get(merchant).publicKey, 2)
    expect(await verify(paid, { from, payTo })).toBe('valid')
  })

  it.each(['ed25519', 'ecdsa'] as const)('from a key of type %s', async (type) => {
    const key = createKey(type)
    await hub.fund(key.address, rich)
    expect(await verify(await payAs(key, transfer()), { from: key.address })).toBe('valid')
  })
})

describe('what moved nothing to the merchant is refused', () => {
  const rows: [string, string, () => Call][] = [
    ['a failed extrinsic in a block', 'transaction_failed', () => transfer(unaffordable)],
    [
      'a batchAll whose second member fails',
      'transaction_failed',
      () => batch('batchAll', [transfer(), transfer(unaffordable)]),
    ],
    [
      'a batch interrupted before the payment',
      'no_matching_transfer',
      () => batch('batch', [transfer(unaffordable), transfer()]),
    ],
    ['one unit too little', 'insufficient_amount', () => transfer(price - 1n)],
    ['another asset', 'asset_mismatch', () => transfer(price, get(merchant).address, usdc)],
    ['another recipient', 'recipient_mismatch', () => transfer(price, get(owner).address)],
    [
      'native coins',
      'no_matching_transfer',
      () => calls.find('balances', 'transfer')(get(merchant).address, price),
    ],
    [
      'a remark that describes a payment',
      'no_matching_transfer',
      () => calls.find('system', 'remarkWithEvent')(transfer().method.toHex()),
    ],
    [
      'an approval',
      'no_matching_transfer',
      () => calls.find('assets', 'approveTransfer')(usdt, get(merchant).address, price),
    ],
  ]
  const hashOf = payAll(rows)

  it.each(rows)('%s: %s', async (name, reason) => {
    expect(await verify(hashOf(name))).toBe(reason)
  })

  it('a batch that is interrupted after the payment counts what moved', async () => {
    expect(await verify(await payAs(payer, batch('batch', [transfer(), transfer(unaffordable)])))).toBe(
      'valid',
    )
  })

  it('the transfer of another signer: sender_mismatch', async () => {
    expect(await verify(await payAs(stranger, transfer()))).toBe('sender_mismatch')
  })

  it('a transfer approved by its owner, made by a spender: neither paid', async () => {
    await payAs(owner, calls.find('assets', 'approveTransfer')(usdt, get(stranger).address, price))
    const spend = calls.find('assets', 'transferApproved')(
      usdt,
      get(owner).address,
      get(merchant).address,
      price,
    )
    const hash = await payAs(stranger, spend)
    expect(await verify(hash, { from: get(owner).address })).toBe('no_matching_transfer')
    expect(await verify(hash, { from: get(stranger).address })).toBe('no_matching_transfer')
  })

  it('a proxy: neither its signer nor the owner of the funds paid', async () => {
    await payAs(owner, calls.find('proxy', 'addProxy')(get(stranger).address, 'Any', 0))
    const hash = await payAs(stranger, calls.find('proxy', 'proxy')(get(owner).address, null, transfer()))
    expect(await verify(hash, { from: get(owner).address })).toBe('no_matching_transfer')
    expect(await verify(hash, { from: get(stranger).address })).toBe('no_matching_transfer')
    const failing = await payAs(
      stranger,
      calls.find('proxy', 'proxy')(get(owner).address, null, transfer(unaffordable)),
    )
    expect(await verify(failing, { from: get(owner).address })).toBe('no_matching_transfer')
  })

  it('what the same extrinsic takes back from the merchant', async () => {
    await payAs(merchant, calls.find('proxy', 'addProxy')(get(payer).address, 'Any', 0))
    const back = calls.find('proxy', 'proxy')(
      get(merchant).address,
      null,
      transfer(price, get(payer).address),
    )
    expect(await verify(await payAs(payer, batch('batchAll', [transfer(), back])))).toBe(
      'insufficient_amount',
    )
  })

  it('the events of a neighbor in the block', async () => {
    const failing = await submit(hub, get(payer), transfer(unaffordable))
    const paying = await submit(hub, get(stranger), transfer())
    await hub.mine()
    expect(await verify(failing)).toBe('transaction_failed')
    expect(await verify(paying, { from: get(stranger).address })).toBe('valid')
  })
})

describe('finality', () => {
  it('an unknown hash is transaction_not_found', async () => {
    expect(await verify(`0x${'ab'.repeat(32)}`)).toBe('transaction_not_found')
  })

  it('a block that is not final is transaction_not_final, also if the payload names it', async () => {
    hub.holdFinality()
    const hash = await submit(hub, get(payer), transfer())
    const blockHash = await hub.mine()
    expect(await verify(hash)).toBe('transaction_not_final')
    expect(await verify(hash, { payload: { blockHash } })).toBe('transaction_not_final')
    hub.releaseFinality()
    expect(await verify(hash)).toBe('valid')
  })

  it('an orphaned block proves nothing, also if the payload names it', async () => {
    hub.holdFinality()
    const hash = await submit(hub, get(payer), transfer())
    const blockHash = await hub.mine()
    await hub.orphanHead()
    await hub.mine()
    hub.releaseFinality()
    await hub.mine()
    expect(await verify(hash, { payload: { blockHash } })).toBe('transaction_not_found')
  })

  it('is too old by the time of its block', async () => {
    const hash = await payAs(payer, transfer())
    hub.warp(200_000)
    const clock = shiftedClock()
    clock.shift(200_000)
    await hub.mine()
    const later = await openScheme(westendEnvironment(proxy.url), { clock })
    const options = { maxTimeoutSeconds: 120 }
    const verdict = await later.scheme.verify(readDirectBody(proofOf(hash, options)), {
      isAwaited: () => true,
    })
    await later.close()
    hub.warp(-200_000)
    await hub.mine()
    expect(verdict).toMatchObject({ reason: 'transaction_too_old' })
  })

  it('a hash that stands in two blocks is refused', async () => {
    // Deterministic signatures: the same bytes again.
    const account = createKey('ed25519')
    await hub.fund(account.address, rich)
    // Immortal, and valid again once the account starts at nonce 0 as a removed account does.
    const immortal = { era: 0, nonce: 0 }
    const hash = await submit(hub, account, transfer(), immortal)
    await hub.mine()
    expect(await verify(hash, { from: account.address })).toBe('valid')
    await hub.fund(account.address, rich)
    expect(await submit(hub, account, transfer(), immortal)).toBe(hash)
    await hub.mine()
    expect(await verify(hash, { from: account.address })).toBe('no_matching_transfer')
  })
})

describe('memo', () => {
  const remark = (text: string) => calls.find('system', 'remarkWithEvent')(text)

  it('is a remark in the same batch', async () => {
    const hash = await payAs(payer, batch('batchAll', [transfer(), remark('order-77')]))
    expect(await verify(hash, { extra: { memo: 'order-77' } })).toBe('valid')
    expect(await verify(hash, { extra: { memo: 'order-78' } })).toBe('memo_mismatch')
    expect(await verify(hash)).toBe('valid')
  })

  const rows: [string, () => Call][] = [
    ['is absent', () => transfer()],
    ['is one of two remarks', () => batch('batchAll', [transfer(), remark('order-77'), remark('order-78')])],
    [
      'was remarked without an event',
      () => batch('batchAll', [transfer(), calls.find('system', 'remark')('order-77')]),
    ],
  ]
  const hashOf = payAll(rows)

  it.each(rows)('mismatches where it %s', async (name) => {
    expect(await verify(hashOf(name), { extra: { memo: 'order-77' } })).toBe('memo_mismatch')
  })

  it("is not another account's remark, of which the payer repeats the text without executing it", async () => {
    await payAs(owner, calls.find('proxy', 'addProxy')(get(payer).address, 'NonTransfer', 0))
    const foreign = calls.find('proxy', 'proxy')(get(owner).address, null, remark('order-77'))
    const members = [transfer(), foreign, transfer(unaffordable), remark('order-77')]
    const hash = await payAs(payer, batch('batch', members))
    expect(await verify(hash)).toBe('valid')
    expect(await verify(hash, { extra: { memo: 'order-77' } })).toBe('memo_mismatch')
  })
})

describe('the asset', () => {
  it('that the payload names must be that of the requirements', async () => {
    expect(await verify(paid, { payload: { assetId: usdt } })).toBe('valid')
    expect(await verify(paid, { payload: { assetId: `${usdt}` } })).toBe('valid')
    expect(await verify(paid, { payload: { assetId: usdc } })).toBe('asset_mismatch')
    expect(await verify(paid, { payload: { assetId: '19.84' } })).toBe('invalid_payload_structure')
  })

  it('must be offered', async () => {
    expect(await verify(paid, { asset: '7' })).toBe('unsupported_asset')
  })
})

describe('nodes', () => {
  const unavailable = { code: 'SERVICE_UNAVAILABLE' }

  it.each<[string, (result: unknown) => unknown]>([
    ['chain_getFinalizedHead', () => 'none'],
    ['chain_getBlock', () => ({ block: {} })],
    ['state_getRuntimeVersion', () => null],
  ])('a malformed %s is an outage, never "not found"', async (method, change) => {
    proxy.setFault(method, { kind: 'tamper', change })
    await expect(verify(paid)).rejects.toMatchObject(unavailable)
    proxy.clearFaults()
  })

  it.each([
    ['no events', null],
    ['events of another format', '0x04000000000000'],
    ['pruned state', undefined],
  ])('%s of a block are an outage, never "moved nothing"', async (_, events) => {
    proxy.setFault('state_getStorage', {
      kind: 'tamper',
      change: (result, [key]) => (String(key).startsWith('0x26aa') ? events : result),
    })
    await expect(verify(paid)).rejects.toThrow()
    proxy.clearFaults()
    expect(await verify(paid)).toBe('valid')
  })

  it('that disagree about the finalized block prove nothing', async () => {
    await verify(paid)
    proxy.setFault('chain_getBlockHash', {
      kind: 'tamper',
      // Of the payment's block and the finalized one; not of the genesis block and the era's, which its signature binds.
      change: (result, [numbers]) =>
        Array.isArray(result) && Array.isArray(numbers) && numbers[0] !== 0
          ? result.with(-1, `0x${'cd'.repeat(32)}`)
          : result,
    })
    await expect(verify(paid)).rejects.toThrow()
    proxy.clearFaults()
  })
})

describe('a runtime upgrade', () => {
  it('counts from the block after its own', async () => {
    const hash = await submit(hub, get(payer), transfer())
    const upgradeBlock = await hub.mine()
    const raise = (result: unknown, [block]: readonly unknown[]) =>
      block === upgradeBlock && typeof result === 'object' ? { ...result, specVersion: 901 } : result
    proxy.setFault('state_getRuntimeVersion', { kind: 'tamper', change: raise })
    proxy.setFault('state_getMetadata', {
      kind: 'errorFor',
      findError: ([block]) => (block === upgradeBlock ? 'the metadata of the next runtime' : null),
    })
    expect(await verify(hash)).toBe('valid')
    proxy.clearFaults()
  })
})

describe('a block that the payload names', () => {
  const callsOfLookUp = [
    'chain_getBlock',
    // Of the branch, and what the signature binds.
    'chain_getBlockHash',
    'chain_getBlockHash',
    'chain_getFinalizedHead',
    'chain_getHeader',
    'state_getRuntimeVersion',
    'state_getStorage',
    'state_getStorage',
  ]
  // Its own scheme, which has read no block yet.
  let counted: RpcProxy
  let fresh: Opened
  const listCalls = () => counted.calls.map(({ method }) => method).toSorted()
  beforeEach(async () => {
    counted = await startRpcProxy(hub.url)
    fresh = await openScheme(westendEnvironment(counted.url))
    await pollUntil(() => counted.count('state_getMetadata') > 0, 'the metadata to be loaded')
    counted.clearCalls()
  })
  afterEach(async () => {
    await fresh.close()
    await counted.stop()
  })

  it('saves reading the blocks in between', async () => {
    const hash = await submit(hub, get(payer), transfer())
    const blockHash = await hub.mine()
    const body = readDirectBody(proofOf(hash, { payload: { blockHash, blockNumber: 1, extrinsicIndex: 0 } }))
    expect(await fresh.scheme.verify(body, { isAwaited: () => true })).toMatchObject({ isValid: true })
    expect(listCalls()).toEqual([...callsOfLookUp, 'chain_getHeader'].toSorted())
  })

  it('is not needed again for a block that was read', async () => {
    const ask = () => fresh.scheme.verify(readDirectBody(proofOf(paid)), { isAwaited: () => true })
    await ask()
    counted.clearCalls()
    expect(await ask()).toMatchObject({ isValid: true })
    expect(listCalls()).toEqual(callsOfLookUp)
  })
})

describe('a hint at a block', () => {
  it.each([
    ['one without the extrinsic', () => hub.genesisHash],
    ['an unknown one', () => `0x${'ee'.repeat(32)}`],
    ['no hash', () => 'latest'],
  ])('changes nothing if it is %s', async (_, hint) => {
    const hash = await payAs(payer, transfer())
    expect(await verify(hash, { payload: { blockHash: hint() } })).toBe('valid')
  })
})

describe('from the cross-check amount on', () => {
  const openBoth = () =>
    openScheme({
      ...westendEnvironment(`${hub.url},${proxy.url}`),
      POLKADOT_CROSS_CHECK_AMOUNT: `${price}`,
    })

  it('two nodes must report the same transfers', async () => {
    const both = await openBoth()
    const body = readDirectBody(proofOf(paid))
    const ask = () => both.scheme.verify(body, { isAwaited: () => true })
    expect(await ask()).toMatchObject({ isValid: true })
    proxy.setFault('state_getStorage', {
      kind: 'tamper',
      // One unit more in every event.
      change: (result, [key]) =>
        String(key).startsWith('0x26aa') && typeof result === 'string'
          ? result.replaceAll('10270000000000000000000000000000', '11270000000000000000000000000000')
          : result,
    })
    expect(await ask()).toMatchObject({ reason: 'transaction_not_final' })
    proxy.clearFaults()
    expect(await ask()).toMatchObject({ isValid: true })
    await both.close()
  })

  it('a node that follows another branch does not confirm', async () => {
    const both = await openBoth()
    const body = readDirectBody(proofOf(paid))
    proxy.setFault('chain_getFinalizedHead', { kind: 'tamper', change: () => hub.genesisHash })
    const verdict = await both.scheme.verify(body, { isAwaited: () => true })
    expect(verdict).toMatchObject({ reason: 'transaction_not_final' })
    proxy.clearFaults()
    await both.close()
  })
})
