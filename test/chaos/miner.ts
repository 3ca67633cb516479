import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainControl } from '../support/evm/chainControl.js'

export interface Miner {
  pause(): void
  resume(): void
  /** Runs work while no block is being mined. */
  between<T>(work: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

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
