import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainControl } from '../support/evm/chainControl.js'

/** What makes the blocks of the chain, so that the suite knows when none is being made. */
export interface Miner {
  /** Makes no blocks for a while. */
  pause(): void
  resume(): void
  /** Runs work between two blocks. */
  between<T>(work: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

/** Makes a block every so many milliseconds. */
export const startMiner = async (control: ChainControl, blockTimeMs: number): Promise<Miner> => {
  await control.setAutomine(false)
  let isPaused = false
  let isStopped = false
  let last: Promise<unknown> = Promise.resolve()
  const between = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
  const run = async () => {
    while (!isStopped) {
      if (!isPaused) await between(() => control.mine())
      await sleep(blockTimeMs)
    }
  }
  const running = run()
  return {
    pause: () => {
      isPaused = true
    },
    resume: () => {
      isPaused = false
    },
    between,
    stop: async () => {
      isStopped = true
      await running
    },
  }
}
