import type { Address, Hex } from 'viem'
import type { Channel } from '../chains/evm/channels/channelScene.js'
import { exactPayment } from '../support/evm/payment.js'
import { uptoPayment } from '../support/evm/upto.js'
import { createEoa, type EoaWallet } from '../support/evm/wallets.js'
import { openDeposit } from './channels.js'
import type { Random } from './random.js'
import type { World } from './world.js'

const clientBehaviors = [
  /** One request without a key. */
  'once',
  /** Retries without a key until the result is final. */
  'persistent',
  /** Aborts the first request, then as `persistent`. */
  'hangsUp',
  /** Retries with one key until the result is final, and once more. */
  'keyed',
  /** Aborts the first request, then as `keyed`. */
  'keyedHangsUp',
  /** Sends to both instances concurrently, without a key. */
  'twins',
  /** As `twins`, with one key. */
  'keyedTwins',
  /** As `twins`, with a key each. */
  'rivals',
] as const

export type ClientBehavior = (typeof clientBehaviors)[number]

export const usesOneKey = (behavior: ClientBehavior): boolean =>
  behavior === 'keyed' || behavior === 'keyedHangsUp' || behavior === 'keyedTwins'

/** Funds of a payer. `poor`: enough for one of its two payments. */
type Funds = 'rich' | 'poor' | 'none'

export interface PlannedPayment {
  readonly name: string
  /** Whether its requests have the API key of the account. */
  readonly hasAccount: boolean
  /** `channel`: the deposit into a channel, of `batch-settlement`. */
  readonly scheme: 'exact' | 'upto' | 'channel'
  readonly behavior: ClientBehavior
  readonly payerKey: Hex
  /** Of EIP-3009; a permit is the first of its payer. Of a channel: its salt. */
  readonly nonce: Hex
  /** What settlement moves; a permit allows more. */
  readonly amount: bigint
  readonly recipient: Address
  readonly startsAtMs: number
  /** The first instance to be called. */
  readonly first: 0 | 1
  readonly random: Random
}

export interface Payment extends PlannedPayment {
  readonly body: string
  readonly payer: Address
  readonly authorizationId: string
  /** Null unless the payment is a deposit. */
  readonly channel: Channel | null
  /** Of the authorization; null for a permit. */
  readonly tokenNonce: Hex | null
}

export interface PlannedLoad {
  readonly payments: readonly PlannedPayment[]
  readonly wallets: readonly { readonly key: Hex; readonly balance: bigint }[]
}

interface LoadOptions {
  readonly name: string
  readonly count: number
  /** Clients start within this time. */
  readonly windowMs: number
  /** Start of the faults: half of the clients start around then, so that requests are in progress. */
  readonly moments: readonly number[]
  readonly hasPoorPayers: boolean
}

/** Plans at least `count` payments; some share a payer that cannot fund both. */
export const planLoad = (
  random: Random,
  recipients: World['recipients'],
  { name, count, windowMs, moments, hasPoorPayers }: LoadOptions,
): PlannedLoad => {
  const payments: PlannedPayment[] = []
  const wallets: { key: Hex; balance: bigint }[] = []
  // Concurrent payments are batched into one transaction.
  const drawBurst = (moment: number) => Math.max(0, moment + random.integer(-600, 100))
  const bursts = [drawBurst(windowMs), ...moments.map(drawBurst)] as const
  while (payments.length < count) {
    const drawn = random.pick<Funds>(['rich', 'rich', 'rich', 'rich', 'rich', 'rich', 'poor', 'none'])
    const funds = drawn === 'poor' && !hasPoorPayers ? 'rich' : drawn
    const key = random.hex(32)
    const amounts = Array.from({ length: funds === 'rich' ? random.integer(1, 2) : 2 }, () =>
      BigInt(random.integer(1_000, 50_000)),
    )
    // Permits of one payer are settled one after the other, so that each has a payer of its own.
    const scheme = amounts.length > 1 ? 'exact' : random.chance(0.6) ? 'upto' : 'channel'
    for (const amount of amounts) {
      payments.push({
        scheme,
        name: `${name}p${payments.length + 1}`,
        hasAccount: random.chance(0.5),
        behavior: random.pick(clientBehaviors),
        payerKey: key,
        nonce: random.hex(32),
        amount,
        recipient: random.pick(recipients),
        startsAtMs: random.chance(0.5)
          ? random.integer(0, windowMs)
          : random.pick(bursts) + random.integer(0, 10),
        first: random.pick([0, 1]),
        random: random.fork(),
      })
    }
    const sum = amounts.reduce((total, amount) => total + amount, 0n)
    wallets.push({ key, balance: funds === 'rich' ? sum * 2n : funds === 'poor' ? sum - 1n : 0n })
  }
  return { payments, wallets }
}

/** Signs the payments and funds the payers, in blocks deeper than any reorg. */
export const prepareLoad = async (
  world: World,
  { payments, wallets }: PlannedLoad,
  deepestReorg: number,
): Promise<readonly Payment[]> => {
  const { chain, miner } = world
  const eoas = new Map<Hex, EoaWallet>(wallets.map(({ key }) => [key, createEoa(key)]))
  await miner.between(async () => {
    for (const { key, balance } of wallets) {
      const wallet = eoas.get(key)
      if (wallet !== undefined && balance > 0n) await chain.mint(wallet.address, balance)
    }
    await chain.control.mine(deepestReorg + 1)
  })
  return await Promise.all(
    payments.map(async (planned) => {
      const wallet = eoas.get(planned.payerKey) ?? createEoa(planned.payerKey)
      const { body, id, ...signed } = await sign(world, wallet, planned)
      const authorizationId = `${chain.network}/${chain.token.verifyingContract}/${id}`.toLowerCase()
      return { ...planned, ...signed, payer: wallet.address, body: JSON.stringify(body), authorizationId }
    }),
  )
}

const sign = async (world: World, wallet: EoaWallet, planned: PlannedPayment) => {
  const { chain, router } = world
  const { scheme, nonce, amount, recipient: payTo } = planned
  switch (scheme) {
    case 'exact': {
      const body = await exactPayment({ chain, wallet, payTo, amount, authorization: { nonce } })
      return { body, id: `${wallet.address}/${nonce}`, channel: null, tokenNonce: nonce }
    }
    case 'upto': {
      const payment = await uptoPayment({ chain, wallet, router, payTo, maxAmount: amount * 2n })
      const body = { ...payment, settleAmount: String(amount) }
      return { body, id: `permit/${wallet.address}/0`, channel: null, tokenNonce: null }
    }
    case 'channel': {
      const { body, channel, nonce: tokenNonce } = await openDeposit(world, wallet, planned)
      return { body, id: `${wallet.address}/${tokenNonce}`, channel, tokenNonce }
    }
  }
}
