import { sleep, withSignal } from '../../../deadline.js'
import { AppError } from '../../../errors.js'
import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { RateLimiter } from '../../../ports/rateLimiter.js'
import type { SignerHealth } from '../../chain.js'
import { spendHourlyBudget } from '../../hourlyBudget.js'
import { formatAddress, type TronAddress } from '../encoding/address.js'
import type { TronNode } from '../node/node.js'
import type { SponsorSettings, TronNetworkSettings } from '../settings.js'
import { createLendingAccount, type Loan } from './lendingAccount.js'
import { findLent, type Lendable, listReceivers, readLendable } from './lent.js'

/** Lends energy to payers who have none, for as long as one payment takes. */
export interface EnergySponsor {
  /** In base58. */
  readonly address: string
  /** How much energy one payer would be lent at this moment. */
  mostLent(): number
  /** Lends; resolves when the energy has arrived, with how to take it back, and throws when it has not. */
  lend(receiver: TronAddress, energy: number, signal: AbortSignal): Promise<TakeBack>
  /** One round: what we own, and what others failed to take back. */
  check(): Promise<void>
  health(): SignerHealth
  /** Waits for what is being taken back. */
  close(): Promise<void>
}

/** Takes a loan back in the background; what fails is made good by a later round. */
export type TakeBack = () => void

const sunPerTrx = 1_000_000

// A transfer to somebody who never held the token needs some 130,000.
const mostPerPayment = 300_000
const usualPerPayment = 65_000

// Longer than any payment takes: what is still lent then was left by a process that died.
const forgottenAfterMs = 180_000

/** Builds the sponsor of one network. Its account must lend to nobody else: what it lends for long is taken back. */
export const createEnergySponsor = (
  { network, pollIntervalMs }: Pick<TronNetworkSettings, 'network' | 'pollIntervalMs'>,
  { privateKey, energyPerHour }: SponsorSettings,
  parts: {
    readonly node: TronNode
    readonly limiter: RateLimiter
    readonly clock: Clock
    readonly logger: Logger
  },
): EnergySponsor => {
  const { node, limiter, clock, logger } = parts
  const account = createLendingAccount(privateKey, node)
  const address = formatAddress(account.address)
  const returning = new Set<Promise<void>>()
  /** When we first saw that somebody has a loan of ours. */
  let firstSeen: ReadonlyMap<string, number> = new Map()
  /** When we last lent to somebody ourselves. */
  const lentAt = new Map<string, number>()
  let lendable: Lendable = { sun: 0, energy: 0, sunPerEnergy: 0 }

  const budget = { network, called: 'energy', key: `energy:${network}`, limit: energyPerHour }

  const waitFor = async (transaction: string, signal: AbortSignal): Promise<void> => {
    while ((await node.findReceipt(transaction)) === null) {
      if (!(await sleep(pollIntervalMs, signal))) throw new Error('The loan did not arrive in time')
    }
  }

  const giveBack = async (loan: Loan): Promise<void> => {
    const { transaction, bytes } = await account.signReturn(loan)
    await node.send(bytes)
    logger.info({ network, transaction, receiver: formatAddress(loan.receiver) }, 'energy.taken_back')
  }

  const takeBack = (loan: Loan): void => {
    const work = giveBack(loan)
      .catch((error: unknown) => logger.warn({ network, error }, 'energy.not_taken_back'))
      .finally(() => returning.delete(work))
    returning.add(work)
  }

  /** In whole TRX, and at least one, as the network wants it. */
  const sumUp = (energy: number): number =>
    Math.max(1, Math.ceil((energy * lendable.sunPerEnergy) / sunPerTrx)) * sunPerTrx

  const sweep = async (): Promise<void> => {
    const now = clock.now().getTime()
    const seen = new Map<string, number>()
    for (const receiver of await listReceivers(node, account.address)) {
      const since = Math.max(firstSeen.get(receiver) ?? now, lentAt.get(receiver) ?? 0)
      seen.set(receiver, since)
      if (now - since < forgottenAfterMs) continue
      const sun = await findLent(node, account.address, receiver)
      if (sun > 0) takeBack({ receiver, sun })
    }
    firstSeen = seen
    for (const [receiver, at] of lentAt) if (now - at >= forgottenAfterMs) lentAt.delete(receiver)
  }

  return {
    address,
    mostLent: () => Math.min(mostPerPayment, lendable.energy),
    lend: async (receiver, energy, signal) => {
      await spendHourlyBudget(limiter, budget, energy)
      const loan = { receiver, sun: sumUp(energy) }
      lentAt.set(receiver, clock.now().getTime())
      const { transaction, bytes } = await account.signLoan(loan)
      logger.info({ network, transaction, receiver: formatAddress(receiver), energy }, 'energy.lent')
      const answer = await node.send(bytes)
      if (answer === 'refused') throw notLent(network)
      try {
        await withSignal(waitFor(transaction, signal), signal)
      } catch (error) {
        // It may arrive all the same.
        takeBack(loan)
        throw notLent(network, error)
      }
      return () => takeBack(loan)
    },
    check: async () => {
      lendable = await readLendable(node, account.address)
      await sweep()
    },
    health: () => ({
      signer: address,
      balance: BigInt(lendable.sun),
      settlesLeft: Math.floor(lendable.energy / usualPerPayment),
    }),
    close: async () => {
      await Promise.allSettled(returning)
    },
  }
}

const notLent = (network: string, cause?: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `No energy could be lent on ${network}`, {
    cause,
    operationalCode: 'SVC-3002',
    retryAfterSeconds: 5,
  })
