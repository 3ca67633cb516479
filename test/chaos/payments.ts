import type { Address, Hex } from 'viem'
import { exactPayment } from '../support/evm/payment.js'
import { createEoa, type EoaWallet } from '../support/evm/wallets.js'
import type { Random } from './random.js'
import type { World } from './world.js'

/** What a client does with its payment. */
export const habits = [
  /** Asks once, without a key, and lives with the answer. */
  'once',
  /** Asks without a key until the answer is final. */
  'persistent',
  /** Hangs up in the middle, then asks as `persistent`. */
  'hangsUp',
  /** Asks with one key until the answer is final, and once more to be sure. */
  'keyed',
  /** Hangs up in the middle, then asks as `keyed`. */
  'keyedHangsUp',
  /** Asks both instances at the same moment, without a key. */
  'twins',
  /** The same with one key. */
  'keyedTwins',
  /** The same with a key for each. */
  'rivals',
] as const

/** One of `habits`. */
export type Habit = (typeof habits)[number]

/** How many keys and askers a habit has; what may be expected of the answers depends on it. */
export const usesOneKey = (habit: Habit): boolean =>
  habit === 'keyed' || habit === 'keyedHangsUp' || habit === 'keyedTwins'

/** How much a payer has. `poor`: enough for one of its two payments. */
export type Funds = 'rich' | 'poor' | 'none'

/** A payment of the load, and what its client will do with it. */
export interface PlannedPayment {
  readonly name: string
  readonly habit: Habit
  readonly payerKey: Hex
  readonly nonce: Hex
  readonly amount: bigint
  readonly recipient: Address
  /** From the round's beginning. */
  readonly startsAtMs: number
  /** Which instance is asked first. */
  readonly first: 0 | 1
  /** The choices that the client makes on its way. */
  readonly random: Random
}

/** A payment that is signed. */
export interface Payment extends PlannedPayment {
  readonly body: string
  readonly payer: Address
  /** As the journal writes it. */
  readonly authorizationId: string
}

/** The load of one round. */
export interface PlannedLoad {
  readonly payments: readonly PlannedPayment[]
  readonly wallets: readonly { readonly key: Hex; readonly balance: bigint }[]
}

/** How much of what. */
export interface LoadOptions {
  /** What the names of the payments begin with. */
  readonly name: string
  readonly count: number
  /** How long clients arrive. */
  readonly windowMs: number
  /** When faults begin: half of the clients come around then, so that something is under way. */
  readonly moments: readonly number[]
  readonly hasPoorPayers: boolean
}

/** Plans at least so many payments, some of which share a payer that cannot pay for both. */
export const planLoad = (
  random: Random,
  recipients: World['recipients'],
  { name, count, windowMs, moments, hasPoorPayers }: LoadOptions,
): PlannedLoad => {
  const payments: PlannedPayment[] = []
  const wallets: { key: Hex; balance: bigint }[] = []
  // Who comes in the same moment is settled in the same transaction.
  const drawBurst = (moment: number) => Math.max(0, moment + random.integer(-600, 100))
  const bursts = [drawBurst(windowMs), ...moments.map(drawBurst)] as const
  while (payments.length < count) {
    const drawn = random.pick<Funds>(['rich', 'rich', 'rich', 'rich', 'rich', 'rich', 'poor', 'none'])
    const funds = drawn === 'poor' && !hasPoorPayers ? 'rich' : drawn
    const key = random.hex(32)
    const amounts = Array.from({ length: funds === 'rich' ? random.integer(1, 2) : 2 }, () =>
      BigInt(random.integer(1_000, 50_000)),
    )
    for (const amount of amounts) {
      payments.push({
        name: `${name}p${payments.length + 1}`,
        habit: random.pick(habits),
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
    wallets.push({ key, balance: funds === 'rich' ? sum : funds === 'poor' ? sum - 1n : 0n })
  }
  return { payments, wallets }
}

/** Signs the load and gives the payers what they are to have, deep enough for any reorganisation. */
export const prepareLoad = async (
  { chain, miner }: World,
  { payments, wallets }: PlannedLoad,
): Promise<readonly Payment[]> => {
  const eoas = new Map<Hex, EoaWallet>(wallets.map(({ key }) => [key, createEoa(key)]))
  await miner.between(async () => {
    for (const { key, balance } of wallets) {
      const wallet = eoas.get(key)
      if (wallet !== undefined && balance > 0n) await chain.mint(wallet.address, balance)
    }
    await chain.control.mine(4)
  })
  return await Promise.all(
    payments.map(async (planned) => {
      const wallet = eoas.get(planned.payerKey) ?? createEoa(planned.payerKey)
      const { nonce, amount, recipient } = planned
      const body = await exactPayment({ chain, wallet, payTo: recipient, amount, authorization: { nonce } })
      const asset = chain.token.verifyingContract
      return {
        ...planned,
        body: JSON.stringify(body),
        payer: wallet.address,
        authorizationId: `${chain.network}/${asset}/${wallet.address}/${nonce}`.toLowerCase(),
      }
    }),
  )
}
