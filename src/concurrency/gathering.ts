import { startDeadline } from './deadline.js'

export interface Member {
  /** Resolves when each one that is missing has arrived or left, or begun `maxWaitMs` ago. A second arrival waits for none. */
  arrive(): Promise<void>
  leave(): void
}

interface Gathering {
  begin(): Member
}

/** Lets those that began together go on together. One that is slow is waited for until its own limit, not by each anew. */
export const createGathering = (maxWaitMs: number): Gathering => {
  const missing = new Set<Promise<void>>()

  return {
    begin: () => {
      let leave: () => void = () => undefined
      const left = new Promise<void>((resolve) => {
        const deadline = startDeadline(maxWaitMs, () => leave())
        leave = () => {
          deadline.end()
          missing.delete(left)
          resolve()
        }
      })
      missing.add(left)
      let hasArrived = false
      return {
        leave,
        arrive: async () => {
          leave()
          if (hasArrived) return
          hasArrived = true
          await Promise.all(missing)
        },
      }
    },
  }
}
