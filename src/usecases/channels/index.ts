import { AppError } from '../../errors.js'
import { createFailureLog, nameLines } from '../../failureLog.js'
import type { ChannelLedger, RowCost, UnclaimedTotal } from '../../ports/channelLedger.js'
import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import { viewChannel } from '../../protocol/channels.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { SettleAuthorization } from '../core/settle/settleAuthorization.js'
import { readPage } from '../readPage.js'
import type { ChannelUseCases } from '../useCases.js'
import type { CaredNetwork } from './claimable.js'
import { createClaimChannels } from './claimChannels.js'
import { createSweepReceivers } from './sweepReceivers.js'

interface ChannelsDependencies {
  readonly ledger: ChannelLedger
  readonly journal: Pick<SettlementJournal, 'find'>
  readonly registry: Pick<SchemeRegistry, 'list'>
  readonly settleAuthorization: SettleAuthorization
  readonly gauges: { setUnclaimedChannels(totals: readonly UnclaimedTotal[]): void }
  readonly clock: Clock
  readonly logger: Logger
  /** It is that of `createClaimChannels`. */
  readonly gatherMs?: number
}

interface Channels {
  readonly useCases: ChannelUseCases
  readonly jobs: Readonly<
    Record<'claimChannels' | 'sweepReceivers' | 'retireChannels' | 'measureChannels', Job>
  >
}

// A statement locks no more rows at a time: their vouchers wait for it.
const retiredAtOnce = 500
/** A missing key is not found by itself. */
const signersEveryMs = 3_600_000
const unsignedHints = {
  keyMissing:
    'this process claims none of them: add the key of receiverAuthorizer to EVM_CHANNEL_AUTHORIZER_KEY of every instance, behind the current one; if it is lost, receivers claim by the contract themselves',
  networkMissing: 'this process claims none of them: configure the network again',
} as const

/** Takes care of channels whose vouchers this facilitator keeps, claims and has paid out. */
export const createChannels = (dependencies: ChannelsDependencies): Channels => {
  const { ledger, registry, clock, logger } = dependencies
  const networks: readonly CaredNetwork[] = registry
    .list()
    .flatMap(({ kind: { network }, channelCare: care }) => (care === undefined ? [] : [{ network, care }]))
  const failures = createFailureLog({
    logger,
    level: 'error',
    event: 'channel.round_failed',
    recovered: 'channel.round_recovered',
    now: () => clock.now().getTime(),
  })

  const ofJob = (job: string) => ({ ...dependencies, logger: nameLines(logger, { job }) })

  /** A network that fails keeps no other from its round; the job fails where all of them do. */
  const forEachNetwork =
    (name: string, work: (network: CaredNetwork, stopped: AbortSignal) => Promise<void>): Job['run'] =>
    async (stopped) => {
      const rounds = await Promise.allSettled(networks.map((cared) => work(cared, stopped)))
      const failed = rounds.filter((round) => round.status === 'rejected')
      if (failed[0] !== undefined && failed.length === networks.length) throw failed[0].reason
      for (const [index, { network }] of networks.entries()) {
        const round = rounds[index]
        if (round?.status !== 'rejected') failures.succeeded(`${name} ${network}`)
        else failures.failed(`${name} ${network}`, { job: name, network, error: round.reason })
      }
    }

  return {
    useCases: createReadChannels(ledger),
    jobs: {
      claimChannels: {
        everyMs: 15_000,
        isShared: true,
        run: forEachNetwork('claimChannels', createClaimChannels(ofJob('claimChannels'))),
      },
      sweepReceivers: {
        everyMs: 60_000,
        isShared: true,
        run: forEachNetwork('sweepReceivers', createSweepReceivers(ofJob('sweepReceivers'))),
      },
      retireChannels: {
        everyMs: 3_600_000,
        isShared: true,
        run: async (stopped) => {
          if (networks.length === 0) return
          while (!stopped.aborted && (await ledger.retire(clock.now(), retiredAtOnce)) === retiredAtOnce);
        },
      },
      measureChannels: {
        everyMs: 60_000,
        run: createMeasureChannels(networks, {
          ...dependencies,
          logger: nameLines(logger, { job: 'measureChannels' }),
        }),
      },
    },
  }
}

/** Every process measures: one that lacks a key says so itself. */
const createMeasureChannels = (
  networks: readonly CaredNetwork[],
  { ledger, registry, gauges, clock, logger }: ChannelsDependencies,
): (() => Promise<void>) => {
  let signersReadAtMs = Number.NEGATIVE_INFINITY
  let isKeyMissing = false
  const isConfigured = (network: string): boolean =>
    registry.list().some(({ kind }) => kind.network === network && kind.scheme === 'batch-settlement')

  const warnOfMissingKeys = async (costs: readonly RowCost[]): Promise<void> => {
    const totals = await ledger.measureSigners(costs)
    const unsigned = totals.filter(
      ({ network, receiverAuthorizer }) =>
        !networks.some((cared) => cared.network === network && cared.care.canSign(receiverAuthorizer)),
    )
    for (const { token, amount, withdrawing, ...named } of unsigned) {
      logger.warn(
        {
          ...named,
          asset: token,
          amount: `${amount}`,
          withdrawing: `${withdrawing}`,
          hint: isConfigured(named.network) ? unsignedHints.keyMissing : unsignedHints.networkMissing,
        },
        'channel.key_missing',
      )
    }
    isKeyMissing = unsigned.length > 0
  }

  return async () => {
    const costs = networks.flatMap(({ network, care }) =>
      care.listRowCosts().map((each) => ({ network, ...each })),
    )
    const nowMs = clock.now().getTime()
    if (nowMs - signersReadAtMs >= signersEveryMs) {
      await warnOfMissingKeys(costs)
      signersReadAtMs = nowMs
    }
    if (networks.length > 0 || isKeyMissing) gauges.setUnclaimedChannels(await ledger.measureUnclaimed(costs))
  }
}

const createReadChannels = (ledger: Pick<ChannelLedger, 'find' | 'list'>): ChannelUseCases => ({
  listChannels: async (accountId, { limit, cursor }) => {
    const after = cursor === undefined ? null : readName(cursor)
    const { items, next } = await readPage(
      limit,
      (count) => ledger.list(accountId, { limit: count, after }),
      ({ network, channelId }) => `${network}/${channelId}`,
    )
    return { channels: items.map(viewChannel), ...next }
  },

  getChannel: async (accountId, { network, channelId }) => {
    const found = await ledger.find({ network, channelId: channelId.toLowerCase() })
    if (found === null || found.accountId !== accountId) {
      throw new AppError('NOT_FOUND', 'The account has no such channel with a voucher')
    }
    return viewChannel(found)
  },
})

const readName = (cursor: string) => {
  const [network = '', channelId = ''] = cursor.split('/')
  return { network, channelId: channelId.toLowerCase() }
}
