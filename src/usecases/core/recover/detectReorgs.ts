import { withinDeadline } from '../../../concurrency/deadline.js'
import { createWorkerPool } from '../../../concurrency/workerPool.js'
import { createFailureLog } from '../../../failureLog.js'
import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { ConfirmedBlock, ConfirmedBlocks } from '../../../ports/settlementJournal.js'
import type { SettlementCounter } from '../../../ports/settlementOverview.js'
import type { BlockStatus } from '../../../schemes/network.js'
import type { SchemeRegistry } from '../../../schemes/registry.js'
import { describeSettlement } from '../settle/settlementContext.js'

interface DetectReorgsDependencies {
  readonly registry: SchemeRegistry
  readonly blocks: ConfirmedBlocks
  readonly counter: SettlementCounter
  readonly clock: Clock
  readonly logger: Logger
  readonly deadlineMs: number
}

const blocksPerRound = 500
const concurrency = 8
// Fewer failures can be the fault of single blocks; more mean that the network is unreachable.
const maxFailuresPerKey = 3

// Most orphaned blocks are orphaned early, so the pause doubles with each check.
const firstPauseMs = 4_000
const maxPauseMs = 60_000

/** State between rounds. It only saves requests and delays reopening, so a restart may lose it. */
interface BlockCheck {
  readonly pauseMs: number
  readonly dueAt: number
  readonly wasOrphaned: boolean
}

/** One round. Reopens the payments of a block that is orphaned in two consecutive rounds. */
export const createDetectReorgs = (dependencies: DetectReorgsDependencies) => {
  const { registry, blocks, counter, clock, logger, deadlineMs } = dependencies
  let checks: ReadonlyMap<string, BlockCheck> = new Map()
  const failures = createFailureLog({
    logger,
    event: 'block.status_unknown',
    recovered: 'block.status_known',
    now: () => clock.now().getTime(),
  })

  const readStatus = async (
    { scheme, network, block }: ConfirmedBlock,
    stopped: AbortSignal,
  ): Promise<BlockStatus> => {
    const implementation = registry.find(scheme, network)
    // The network is no longer configured; it is checked again once it is.
    if (implementation === null) return 'unknown'
    return await withinDeadline({ milliseconds: deadlineMs, stopped }, (signal) =>
      implementation.network.getBlockStatus(block, signal),
    )
  }

  const reopen = async (orphaned: ConfirmedBlock): Promise<void> => {
    for (const settlement of await blocks.reopen(orphaned)) {
      counter.countReorged(settlement.network)
      logger.warn(
        {
          ...describeSettlement(settlement),
          transaction: settlement.transaction,
          blockNumber: orphaned.block.number.toString(),
          blockHash: orphaned.block.hash,
          isConsumed: settlement.consumedBy !== null,
        },
        'settlement.reorged',
      )
    }
  }

  /** Applies the status; returns the state for the next round, or null if the block is done. */
  const applyStatus = async (
    block: ConfirmedBlock,
    status: BlockStatus,
    previous: BlockCheck | undefined,
  ): Promise<BlockCheck | null> => {
    const now = clock.now().getTime()
    switch (status) {
      case 'final':
        await blocks.markFinal(block)
        return null
      case 'orphaned':
        if (previous?.wasOrphaned !== true) return { pauseMs: firstPauseMs, dueAt: now, wasOrphaned: true }
        await reopen(block)
        return null
      case 'canonical': {
        const pauseMs = Math.min(previous === undefined ? firstPauseMs : previous.pauseMs * 2, maxPauseMs)
        return { pauseMs, dueAt: now + pauseMs, wasOrphaned: false }
      }
      case 'unknown':
        return { pauseMs: previous?.pauseMs ?? firstPauseMs, dueAt: now, wasOrphaned: false }
    }
  }

  return async (stopped: AbortSignal): Promise<void> => {
    const blocksToCheck = await blocks.list(blocksPerRound)
    const startedAt = clock.now().getTime()
    const isDue = (block: ConfirmedBlock): boolean => (checks.get(keyOf(block))?.dueAt ?? 0) <= startedAt
    const nextChecks = new Map<string, BlockCheck>()
    const reorganized = new Set<string>()
    const pool = createWorkerPool<ConfirmedBlock>({
      concurrency,
      keyOf: ({ network }) => network,
      maxFailuresPerKey,
      stopped,
      onFailure: ({ network, block }, error) =>
        failures.failed(network, { network, blockHash: block.hash, error }),
    })

    const checkBlock = async (block: ConfirmedBlock): Promise<void> => {
      const status = await readStatus(block, stopped)
      failures.succeeded(block.network)
      if (status === 'orphaned') reorganized.add(block.network)
      const check = await applyStatus(block, status, checks.get(keyOf(block)))
      if (check !== null) nextChecks.set(keyOf(block), check)
    }

    const notDue = blocksToCheck.filter((block) => !isDue(block))
    for (const block of notDue) {
      const check = checks.get(keyOf(block))
      if (check !== undefined) nextChecks.set(keyOf(block), check)
    }
    await pool.run(blocksToCheck.filter(isDue), checkBlock)
    // After a reorg, check the network's other blocks now.
    await pool.run(
      notDue.filter(({ network }) => reorganized.has(network)),
      checkBlock,
    )
    checks = nextChecks
  }
}

const keyOf = ({ network, block }: ConfirmedBlock): string => `${network} ${block.number} ${block.hash}`
