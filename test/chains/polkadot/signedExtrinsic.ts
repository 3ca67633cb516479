import { decodeAddress } from '@polkadot/util-crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { hashExtrinsic } from '../../../src/chains/polkadot/extrinsic.js'
import { readDirectBody } from '../../support/directScheme.js'
import { type AssetHub, startAssetHub } from '../../support/polkadot/assetHub.js'
import { createKey, type KeyType, type PolkadotKey } from '../../support/polkadot/keys.js'
import { callsOf, type ProofOptions, polkadotPayment, submit } from '../../support/polkadot/payment.js'
import { usdt } from '../../support/polkadot/westend.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'
import { openScheme, westendEnvironment } from './openScheme.js'

/** What one node can make of an extrinsic that it returns, on the real runtime of Asset Hub. */

type Opened = Awaited<ReturnType<typeof openScheme>>

const price = 10_000n
let hub: AssetHub
/** The only node of `opened`. */
let proxy: RpcProxy
let opened: Opened
let merchant: string
let stranger: string

const rich = { native: 10n ** 16n, tokens: { [usdt]: 10n ** 9n } }

const createRich = async (type: KeyType = 'sr25519'): Promise<PolkadotKey> => {
  const key = createKey(type)
  await hub.fund(key.address, rich)
  return key
}

beforeAll(async () => {
  hub = await startAssetHub()
  merchant = (await createRich()).address
  stranger = (await createRich()).address
  // Mortal extrinsics are born in a block of their own.
  for (let count = 0; count < 10; count += 1) await hub.mine()
  proxy = await startRpcProxy(hub.url)
  opened = await openScheme(westendEnvironment(proxy.url))
})

afterEach(() => proxy.clearFaults())

afterAll(async () => {
  await opened.close()
  await proxy.stop()
  await hub.stop()
})

interface Paid {
  readonly hash: string
  readonly blockHash: string
  readonly payer: PolkadotKey
}

interface PaymentOptions {
  readonly type?: KeyType
  readonly era?: number
  readonly tip?: number
  readonly to?: string
  readonly copies?: number
}

const pay = async ({ type, to = merchant, copies = 1, ...options }: PaymentOptions = {}): Promise<Paid> => {
  const payer = await createRich(type)
  const { transfer, find } = callsOf(hub)
  const call = transfer(to, price)
  const batched = copies === 1 ? call : find('utility', 'batchAll')(Array(copies).fill(call))
  const hash = await submit(hub, payer, batched, options)
  return { hash, blockHash: await hub.mine(), payer }
}

interface Claim extends Paid {
  readonly options?: Partial<ProofOptions>
  readonly at?: Opened
}

const verify = async ({ hash, blockHash, payer, options, at = opened }: Claim) => {
  const body = polkadotPayment({
    hub,
    extrinsicHash: hash,
    from: payer.address,
    payTo: merchant,
    amount: price,
    maxTimeoutSeconds: 3_600,
    payload: { blockHash },
    ...options,
  })
  const verdict = await at.scheme.verify(readDirectBody(body), { isAwaited: () => true })
  return verdict.isValid ? 'valid' : verdict.reason
}

describe('an extrinsic that its payer signed is accepted', () => {
  const types: readonly KeyType[] = ['sr25519', 'ed25519', 'ecdsa']
  const forms: readonly [string, PaymentOptions][] = [
    ['mortal', {}],
    ['mortal for four blocks', { era: 4 }],
    ['immortal', { era: 0 }],
    ['with a tip', { tip: 1_234_567 }],
    ['immortal, with a tip', { era: 0, tip: 1 }],
    ['longer than 256 bytes', { copies: 8 }],
  ]

  it.each(
    types.flatMap((type) => forms.map(([name, options]) => [type, name, { ...options, type }] as const)),
  )('%s, %s', async (_type, _name, options) => {
    expect(await verify(await pay(options))).toBe('valid')
  })
})

const block = z.looseObject({ block: z.looseObject({ extrinsics: z.array(z.string()) }) })
const keyOf = (address: string) => Buffer.from(decodeAddress(address)).toString('hex')
const eventsKey = '0x26aa'

interface Lie {
  readonly extrinsic?: (hex: string) => string
  readonly events?: (hex: string) => string
}

/** The node returns other bytes for the extrinsic, and other events; the hash that it has then. */
const lie = async (
  { hash, blockHash }: Paid,
  { extrinsic = (hex) => hex, events = (hex) => hex }: Lie,
): Promise<string> => {
  const { extrinsics } = block.parse((await hub.api.rpc.chain.getBlock(blockHash)).toJSON()).block
  const genuine = extrinsics.find((hex) => hashExtrinsic(hex) === hash) ?? ''
  const forged = extrinsic(genuine)
  proxy.setFault('chain_getBlock', {
    kind: 'tamper',
    change: (result) => {
      const read = block.parse(result)
      const changed = read.block.extrinsics.map((hex) => (hex === genuine ? forged : hex))
      return { ...read, block: { ...read.block, extrinsics: changed } }
    },
  })
  proxy.setFault('state_getStorage', {
    kind: 'tamper',
    change: (result, [key]) =>
      typeof result === 'string' && String(key).startsWith(eventsKey) ? events(result) : result,
  })
  return hashExtrinsic(forged)
}

// 10,000 and 10,001 as the last argument of a call, compact, and as u128 in an event.
const raiseOrdered = (hex: string) => hex.replace(/419c$/, '459c')
const raiseReported = (hex: string) => hex.replaceAll(`1027${'00'.repeat(14)}`, `1127${'00'.repeat(14)}`)

describe('an extrinsic that its payer did not sign is an outage of the node', () => {
  const unsigned = { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('did not sign') }

  it.each<KeyType>(['sr25519', 'ed25519', 'ecdsa'])("with another account's %s signature", async (type) => {
    const paid = await pay({ type })
    const victim = createKey('sr25519')
    const blame = (hex: string) => hex.replaceAll(keyOf(paid.payer.address), keyOf(victim.address))
    const hash = await lie(paid, { extrinsic: blame, events: blame })
    await expect(verify({ ...paid, hash, payer: victim })).rejects.toMatchObject(unsigned)
  })

  it('with another amount', async () => {
    const paid = await pay()
    const hash = await lie(paid, { extrinsic: raiseOrdered, events: raiseReported })
    const options = { amount: price + 1n }
    await expect(verify({ ...paid, hash, options })).rejects.toMatchObject(unsigned)
  })

  it('with another recipient', async () => {
    const paid = await pay({ to: stranger })
    const redirect = (hex: string) => hex.replaceAll(keyOf(stranger), keyOf(merchant))
    const hash = await lie(paid, { extrinsic: redirect, events: redirect })
    await expect(verify({ ...paid, hash })).rejects.toMatchObject(unsigned)
  })

  it('with another call around the transfer', async () => {
    const paid = await pay({ copies: 2 })
    const { batch, batchAll } = hub.api.tx.utility ?? {}
    const [from = '', to = ''] = [batchAll, batch].map((call) =>
      Buffer.from(call?.callIndex ?? []).toString('hex'),
    )
    // Two members.
    const hash = await lie(paid, { extrinsic: (hex) => hex.replace(`${from}08`, `${to}08`) })
    expect(hash).not.toBe(paid.hash)
    await expect(verify({ ...paid, hash })).rejects.toMatchObject(unsigned)
  })

  it.each([
    ['the block in which its era begins', { era: 64 }, (numbers: readonly unknown[]) => numbers[1] !== 0],
    ['the genesis block', { era: 0 }, () => true],
  ])('with another hash of %s', async (_, options, isChanged) => {
    const paid = await pay(options)
    proxy.setFault('chain_getBlockHash', {
      kind: 'tamper',
      change: (result, [numbers]) =>
        Array.isArray(result) && Array.isArray(numbers) && numbers[0] === 0 && isChanged(numbers)
          ? result.with(1, `0x${'cd'.repeat(32)}`)
          : result,
    })
    await expect(verify(paid)).rejects.toMatchObject(unsigned)
  })

  it('for this network: a genesis block of another one', async () => {
    const paid = await pay()
    proxy.setFault('chain_getBlockHash', {
      kind: 'tamper',
      change: (result, [numbers]) =>
        Array.isArray(result) && Array.isArray(numbers) && numbers[0] === 0
          ? result.with(0, `0x${'cd'.repeat(32)}`)
          : result,
    })
    await expect(verify(paid)).rejects.toThrow('another chain')
  })

  it('for another version of the runtime', async () => {
    const paid = await pay()
    proxy.setFault('state_getRuntimeVersion', {
      kind: 'tamper',
      change: (result) => ({ ...z.looseObject({}).parse(result), transactionVersion: 999 }),
    })
    await expect(verify(paid)).rejects.toMatchObject(unsigned)
  })
})

/** Of the same length. The runtime of the test chain signs four bytes for it. */
const renameExtension = (result: unknown) =>
  String(result).replaceAll(
    Buffer.from('CheckTxVersion').toString('hex'),
    Buffer.from('CheckTyVersion').toString('hex'),
  )

describe('a transfer that no signature shows', () => {
  const lies: readonly [string, (paid: Paid) => Promise<void>][] = [
    [
      'because a node reports more than was signed',
      async (paid) => {
        await lie(paid, { events: raiseReported })
      },
    ],
    [
      'because an extension of the runtime signs what is unknown',
      async () => proxy.setFault('state_getMetadata', { kind: 'tamper', change: renameExtension }),
    ],
  ]

  it.each(lies)('is refused with one node: %s', async (_, prepare) => {
    const paid = await pay()
    await prepare(paid)
    const fresh = await openScheme(westendEnvironment(proxy.url))
    expect(await verify({ ...paid, at: fresh })).toBe('cross_check_unavailable')
    await fresh.close()
  })

  it('counts with one node where the operator accepts its evidence', async () => {
    const paid = await pay()
    await lie(paid, { events: raiseReported })
    const fresh = await openScheme(westendEnvironment(proxy.url), { requiresCrossCheck: false })
    expect(await verify({ ...paid, at: fresh })).toBe('valid')
    await fresh.close()
  })

  const openBoth = () => openScheme(westendEnvironment(`${proxy.url},${hub.url}`))

  it('counts where two nodes report it', async () => {
    const paid = await pay()
    proxy.setFault('state_getMetadata', { kind: 'tamper', change: renameExtension })
    const both = await openBoth()
    expect(await verify({ ...paid, at: both })).toBe('valid')
    await both.close()
  })

  it('does not count where a second node reports another amount', async () => {
    const paid = await pay()
    await lie(paid, { events: raiseReported })
    proxy.setFault('state_getMetadata', { kind: 'tamper', change: renameExtension })
    const both = await openBoth()
    expect(await verify({ ...paid, at: both })).toBe('transaction_not_final')
    await both.close()
  })
})
