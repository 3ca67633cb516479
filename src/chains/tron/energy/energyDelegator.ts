import { sleep, withSignal } from '../../../deadline.js'
import { AppError } from '../../../errors.js'
import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { RateLimiter } from '../../../ports/rateLimiter.js'
import type { SignerHealth } from '../../chain.js'
import { spendHourlyBudget } from '../../common/hourlyBudget.js'
import { formatAddress, type TronAddress } from '../encoding/address.js'
import type { TronRpc } from '../rpc/rpc.js'
import type { SponsorSettings, TronNetworkSettings } from '../settings.js'
import { createDelegatingAccount, type Delegation } from './delegatingAccount.js'
import { type DelegableEnergy, findDelegated, listReceivers, readDelegableEnergy } from './delegations.js'

/** Lends energy to payers who have none, for as long as one payment takes. */
export interface EnergyDelegator {
  /** In base58. */
  readonly address: string
  /** How much energy one payer would be lent at this moment. */
  maxDelegable(): number
  /** Lends; resolves when the energy has arrived, with how to take it back, and throws when it has not. */
  delegate(receiver: TronAddress, energy: number, signal: AbortSignal): Promise<Undelegate>
  /** One round: what we own, and what others failed to take back. */
  check(): Promise<void>
  health(): SignerHealth
  /** Waits for what is being taken back. */
  close(): Promise<void>
}

/** Takes a loan back in the background; what fails is made good by a later round. */
export type Undelegate = () => void

const sunPerTrx = 1_000_000

// A transfer to somebody who never held the token needs some 130,000.
const maxEnergyPerPayment = 300_000
const typicalEnergyPerPayment = 65_000

// Longer than any payment takes: what is still lent then was left by a process that died.
const orphanedAfterMs = 180_000

/** Builds the sponsor of one network. Its account must lend to nobody else: what it lends for long is taken back. */
export const createEnergyDelegator = (
  { network, pollIntervalMs }: Pick<TronNetworkSettings, 'network' | 'pollIntervalMs'>,
  { privateKey, energyPerHour }: SponsorSettings,
  dependencies: {
    readonly node: TronRpc
    readonly limiter: RateLimiter
    readonly clock: Clock
    readonly logger: Logger
  },
): EnergyDelegator => {
  const { node, limiter, clock, logger } = dependencies
  const account = createDelegatingAccount(privateKey, node)
  const address = formatAddress(account.address)
  const returning = new Set<Promise<void>>()
  /** When we first saw that somebody has a loan of ours. */
  let firstSeen: ReadonlyMap<string, number> = new Map()
  /** When we last lent to somebody ourselves. */
  const delegatedAt = new Map<string, number>()
  let available: DelegableEnergy = { sun: 0, energy: 0, sunPerEnergy: 0 }

  const budget = { network, called: 'energy', key: `energy:${network}`, limit: energyPerHour }

  const waitFor = async (transaction: string, signal: AbortSignal): Promise<void> => {
    while ((await node.findReceipt(transaction)) === null) {
      if (!(await sleep(pollIntervalMs, signal))) throw new Error('The loan did not arrive in time')
    }
  }

  const sendUndelegation = async (delegation: Delegation): Promise<void> => {
    const { transaction, bytes } = await account.signUndelegation(delegation)
    await node.send(bytes)
    logger.info({ network, transaction, receiver: formatAddress(delegation.receiver) }, 'energy.undelegated')
  }

  const undelegate = (loan: Delegation): void => {
    const work = sendUndelegation(loan)
      .catch((error: unknown) => logger.warn({ network, error }, 'energy.undelegate_failed'))
      .finally(() => returning.delete(work))
    returning.add(work)
  }

  /** In whole TRX, and at least one, as the network wants it. */
  const sumUp = (energy: number): number =>
    Math.max(1, Math.ceil((energy * available.sunPerEnergy) / sunPerTrx)) * sunPerTrx

  const sweep = async (): Promise<void> => {
    const now = clock.now().getTime()
    const seen = new Map<string, number>()
    for (const receiver of await listReceivers(node, account.address)) {
      const since = Math.max(firstSeen.get(receiver) ?? now, delegatedAt.get(receiver) ?? 0)
      seen.set(receiver, since)
      if (now - since < orphanedAfterMs) continue
      const sun = await findDelegated(node, account.address, receiver)
      if (sun > 0) undelegate({ receiver, sun })
    }
    firstSeen = seen
    for (const [receiver, at] of delegatedAt) if (now - at >= orphanedAfterMs) delegatedAt.delete(receiver)
  }

  return {
    address,
    maxDelegable: () => Math.min(maxEnergyPerPayment, available.energy),
    delegate: async (receiver, energy, signal) => {
      await spendHourlyBudget(limiter, budget, energy)
      const loan = { receiver, sun: sumUp(energy) }
      delegatedAt.set(receiver, clock.now().getTime())
      const { transaction, bytes } = await account.signDelegation(loan)
      logger.info({ network, transaction, receiver: formatAddress(receiver), energy }, 'energy.delegated')
      const answer = await node.send(bytes)
      if (answer === 'refused') throw delegationFailed(network)
      try {
        await withSignal(waitFor(transaction, signal), signal)
      } catch (error) {
        // It may arrive all the same.
        undelegate(loan)
        throw delegationFailed(network, error)
      }
      return () => undelegate(loan)
    },
    check: async () => {
      available = await readDelegableEnergy(node, account.address)
      await sweep()
    },
    health: () => ({
      signer: address,
      balance: BigInt(available.sun),
      settlementsLeft: Math.floor(available.energy / typicalEnergyPerPayment),
    }),
    close: async () => {
      await Promise.allSettled(returning)
    },
  }
}

const delegationFailed = (network: string, cause?: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `No energy could be lent on ${network}`, {
    cause,
    operationalCode: 'SVC-3002',
    retryAfterSeconds: 5,
  })
