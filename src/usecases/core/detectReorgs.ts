import { withinDeadline } from '../../concurrency/deadline.js'
import { createWorkerPool } from '../../concurrency/workerPool.js'
import type { Clock } from '../../ports/clock.js'
import type { ConfirmedBlock, ConfirmedBlocks } from '../../ports/confirmedBlocks.js'
import type { Logger } from '../../ports/logger.js'
import type { SettlementCounter } from '../../ports/settlementCounter.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { BlockStatus } from '../../schemes/scheme.js'
import { describeSettlement } from './settlementContext.js'

/** Schemes and blocks that are checked. */
export interface DetectReorgsDependencies {
  readonly registry: SchemeRegistry
  readonly blocks: ConfirmedBlocks
  readonly counter: SettlementCounter
  readonly clock: Clock
  readonly logger: Logger
  readonly deadlineMs: number
}

const blocksPerRound = 500
const atOnce = 8
// One block may be at fault by itself; several are the network.
const maxFailuresPerKey = 3

// A block that has stood for long is asked for less often: most of those that vanish do so at once.
const firstPauseMs = 4_000
const maxPauseMs = 60_000

/** What earlier rounds found out of a block; only a saving and a caution, so that a restart may forget it. */
interface BlockCheck {
  readonly pauseMs: number
  readonly askAt: number
  /** Whether it was gone in the last round. */
  readonly isSuspected: boolean
}

/**
 * Asks the chains whether the blocks of confirmed payments still stand, one question a block and not a payment, until
 * they are final; one round. A block that is gone in two rounds in a row has its payments opened again.
 */
export const createDetectReorgs = (dependencies: DetectReorgsDependencies) => {
  const { registry, blocks, counter, clock, logger, deadlineMs } = dependencies
  let memories: ReadonlyMap<string, BlockCheck> = new Map()

  const ask = async (
    { scheme, network, block }: ConfirmedBlock,
    stopped: AbortSignal,
  ): Promise<BlockStatus> => {
    const judge = registry.find(scheme, network)
    // The operator took the network out of the settings: it is asked again when it is back.
    if (judge === null) return 'unknown'
    return await withinDeadline({ milliseconds: deadlineMs, stopped }, (signal) =>
      judge.getBlockStatus(block, signal),
    )
  }

  const reopen = async (gone: ConfirmedBlock): Promise<void> => {
    for (const settlement of await blocks.reopen(gone)) {
      counter.countReorged(settlement.network)
      logger.warn(
        {
          ...describeSettlement(settlement),
          transaction: settlement.transaction,
          blockNumber: gone.block.number.toString(),
          blockHash: gone.block.hash,
          hasToldSuccess: settlement.consumedBy !== null,
        },
        'settlement.reorged',
      )
    }
  }

  /** Does what the answer asks for, and says what is to be remembered of the block. */
  const conclude = async (
    asked: ConfirmedBlock,
    status: BlockStatus,
    before: BlockCheck | undefined,
  ): Promise<BlockCheck | null> => {
    const now = clock.now().getTime()
    switch (status) {
      case 'final':
        await blocks.markFinal(asked)
        return null
      case 'orphaned':
        if (before?.isSuspected !== true) return { pauseMs: firstPauseMs, askAt: now, isSuspected: true }
        await reopen(asked)
        return null
      case 'canonical': {
        const pauseMs = Math.min(before === undefined ? firstPauseMs : before.pauseMs * 2, maxPauseMs)
        return { pauseMs, askAt: now + pauseMs, isSuspected: false }
      }
      case 'unknown':
        return { pauseMs: before?.pauseMs ?? firstPauseMs, askAt: now, isSuspected: false }
    }
  }

  return async (stopped: AbortSignal): Promise<void> => {
    const listed = await blocks.list(blocksPerRound)
    const startedAt = clock.now().getTime()
    const isDue = (block: ConfirmedBlock): boolean => (memories.get(keyOf(block))?.askAt ?? 0) <= startedAt
    const kept = new Map<string, BlockCheck>()
    const reorganized = new Set<string>()
    const pool = createWorkerPool<ConfirmedBlock>({
      atOnce,
      keyOf: ({ network }) => network,
      maxFailuresPerKey,
      stopped,
      onFailure: ({ network, block }, error) =>
        logger.warn({ network, blockHash: block.hash, error }, 'block.status_unknown'),
    })

    const visit = async (block: ConfirmedBlock): Promise<void> => {
      const status = await ask(block, stopped)
      if (status === 'orphaned') reorganized.add(block.network)
      const memory = await conclude(block, status, memories.get(keyOf(block)))
      if (memory !== null) kept.set(keyOf(block), memory)
    }

    const waiting = listed.filter((block) => !isDue(block))
    for (const block of waiting) {
      const memory = memories.get(keyOf(block))
      if (memory !== undefined) kept.set(keyOf(block), memory)
    }
    await pool.run(listed.filter(isDue), visit)
    // Where a network takes one block back, its others do not wait for their turn.
    await pool.run(
      waiting.filter(({ network }) => reorganized.has(network)),
      visit,
    )
    memories = kept
  }
}

const keyOf = ({ network, block }: ConfirmedBlock): string => `${network} ${block.number} ${block.hash}`
