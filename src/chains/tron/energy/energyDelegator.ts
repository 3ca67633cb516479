import { sleep, withSignal } from '../../../concurrency/deadline.js'
import { AppError } from '../../../errors.js'
import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { RateLimiter } from '../../../ports/rateLimiter.js'
import type { SignerHealth } from '../../chain.js'
import { createHourlyBudget } from '../../common/hourlyBudget.js'
import { formatAddress, type TronAddress } from '../encoding/address.js'
import type { Rpc } from '../rpc/rpc.js'
import type { SponsorSettings, TronNetworkSettings } from '../settings.js'
import { createDelegatingAccount, type Delegation } from './delegatingAccount.js'
import {
  createForeignDelegations,
  type DelegableEnergy,
  findDelegated,
  listReceivers,
  readDelegableEnergy,
} from './delegations.js'
import { countDelegationCost, createPriceCache, typicalEnergyPerPayment } from './energyCosts.js'

interface DelegationRequest {
  readonly receiver: TronAddress
  readonly energy: number
  /** Hash of the transfer that needs the energy. */
  readonly transfer: string
  /** Whose part of the budgets it uses; null for none. */
  readonly caller: string | null
}

export interface EnergyDelegator {
  readonly address: string
  maxDelegable(): number
  /** Resolves when the delegation is in a block; throws if it is not in time. */
  delegate(request: DelegationRequest, signal: AbortSignal): Promise<void>
  /** Undelegates in the background what this process delegated for a transfer. A later `check` retries failures. */
  undelegate(transfer: string): void
  /**
   * Reads the delegable energy, and undelegates what was left behind: for transfers that have a receipt, and whatever is
   * older than any payment.
   */
  check(): Promise<void>
  health(): SignerHealth
  close(): Promise<void>
}

interface OwnDelegation extends Delegation {
  readonly transfer: string
  readonly since: number
  isIncluded: boolean
}

const sunPerTrx = 1_000_000

// A transfer to a new holder of USDT needs about 130,000.
const maxEnergyPerPayment = 300_000

// No payment takes so long: a delegation this old was left by a process that ended.
const orphanedAfterMs = 180_000

/** The account must not delegate for any other purpose: long-lived delegations are revoked. */
export const createEnergyDelegator = (
  { network, pollIntervalMs }: Pick<TronNetworkSettings, 'network' | 'pollIntervalMs'>,
  { privateKey, energyPerHour, bandwidthSunPerHour }: SponsorSettings,
  dependencies: {
    readonly rpc: Rpc
    readonly limiter: RateLimiter
    readonly clock: Clock
    readonly logger: Logger
  },
): EnergyDelegator => {
  const { rpc, limiter, clock, logger } = dependencies
  const account = createDelegatingAccount(privateKey, rpc)
  const address = formatAddress(account.address)
  const undelegating = new Set<Promise<void>>()
  /** Each with its own age: a later one for the same payer never makes an earlier one younger. */
  const own = new Set<OwnDelegation>()
  const foreign = createForeignDelegations()
  let available: DelegableEnergy = { sun: 0, energy: 0, sunPerEnergy: 0 }

  const readPrices = createPriceCache(rpc, clock)

  const energyBudget = createHourlyBudget(limiter, {
    network,
    purpose: 'energy',
    key: `energy:${network}`,
    limit: energyPerHour,
  })
  const bandwidthBudget = createHourlyBudget(limiter, {
    network,
    purpose: 'bandwidth',
    key: `bandwidth:${network}`,
    limit: bandwidthSunPerHour,
  })

  /** Counts transactions as if our account had no free bandwidth left. */
  const spendBandwidth = async (transactions: number, caller: string | null) => {
    const { bandwidthPrice } = await readPrices()
    return await bandwidthBudget.spend(countDelegationCost(transactions, bandwidthPrice), caller)
  }

  const waitForInclusion = async (transaction: string, signal: AbortSignal): Promise<void> => {
    while ((await rpc.findReceipt(transaction)) === null) {
      if (!(await sleep(pollIntervalMs, signal))) throw new Error('The delegation was not included in time')
    }
  }

  const sendUndelegation = async (delegation: Delegation): Promise<void> => {
    const { transaction, bytes } = await account.signUndelegation(delegation)
    await rpc.send(bytes)
    logger.info({ network, transaction, receiver: formatAddress(delegation.receiver) }, 'energy.undelegated')
  }

  const undelegateInBackground = (delegation: Delegation): void => {
    const work = sendUndelegation(delegation)
      .catch((error: unknown) => logger.warn({ network, error }, 'energy.undelegate_failed'))
      .finally(() => undelegating.delete(work))
    undelegating.add(work)
  }

  /** The network delegates at least 1 TRX, here in whole TRX. */
  const toStakedSun = (energy: number): number =>
    Math.max(1, Math.ceil((energy * available.sunPerEnergy) / sunPerTrx)) * sunPerTrx

  const endDelegation = (delegation: OwnDelegation): void => {
    if (own.delete(delegation)) undelegateInBackground(delegation)
  }

  /** Another instance may have resolved the settlement, or its transfer may never be included. */
  const sweepOwn = async (before: number): Promise<void> => {
    for (const delegation of [...own]) {
      const isOver =
        delegation.since <= before ||
        (delegation.isIncluded && (await rpc.findReceipt(delegation.transfer)) !== null)
      if (isOver) endDelegation(delegation)
    }
  }

  const sweepForeign = async (now: number): Promise<void> => {
    const before = now - orphanedAfterMs
    const receivers = await listReceivers(rpc, account.address)
    for (const receiver of receivers) {
      const included = [...own].filter((each) => each.isIncluded && each.receiver === receiver)
      const total = await findDelegated(rpc, account.address, receiver)
      // Those that are undelegated meanwhile count as foreign for a round: nothing becomes younger by that.
      const ours = included.filter((each) => own.has(each)).reduce((sum, { sun }) => sum + sun, 0)
      const sun = foreign.observe(receiver, { sun: Math.max(0, total - ours), now, before })
      if (sun === 0) continue
      // What is delegated must come back, even if the budget is spent.
      await spendBandwidth(1, null).catch(() => undefined)
      undelegateInBackground({ receiver, sun })
    }
    foreign.keepOnly(receivers)
  }

  const sweep = async (): Promise<void> => {
    const now = clock.now().getTime()
    await sweepOwn(now - orphanedAfterMs)
    await sweepForeign(now)
  }

  return {
    address,
    maxDelegable: () => Math.min(maxEnergyPerPayment, available.energy),
    delegate: async ({ receiver, energy, transfer, caller }, signal) => {
      const refund = await energyBudget.spend(energy, caller)
      try {
        // The delegation and the undelegation that follows.
        await spendBandwidth(2, caller)
      } catch (error) {
        refund()
        throw error
      }
      const since = clock.now().getTime()
      const delegation = { receiver, sun: toStakedSun(energy), transfer, since, isIncluded: false }
      const { transaction, bytes } = await account.signDelegation(delegation)
      own.add(delegation)
      logger.info({ network, transaction, receiver: formatAddress(receiver), energy }, 'energy.delegated')
      try {
        if ((await rpc.send(bytes)) === 'refused') {
          own.delete(delegation)
          throw new Error('The endpoints refused the delegation')
        }
        await withSignal(waitForInclusion(transaction, signal), signal)
        delegation.isIncluded = true
      } catch (error) {
        // It may still be included.
        endDelegation(delegation)
        throw delegationFailed(network, error)
      }
    },
    undelegate: (transfer) => {
      for (const delegation of [...own]) if (delegation.transfer === transfer) endDelegation(delegation)
    },
    check: async () => {
      available = await readDelegableEnergy(rpc, account.address)
      await sweep()
    },
    health: () => ({
      signer: address,
      balance: BigInt(available.sun),
      settlementsLeft: Math.floor(available.energy / typicalEnergyPerPayment),
    }),
    close: async () => {
      await Promise.allSettled(undelegating)
    },
  }
}

const delegationFailed = (network: string, cause?: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `Energy could not be delegated on ${network}`, {
    cause,
    operationalCode: 'SVC-3002',
    retryAfterSeconds: 5,
  })
