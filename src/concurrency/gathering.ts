export interface Member {
  /** Resolves when each one that had begun before has arrived or left, or begun `maxWaitMs` ago. */
  arrive(): Promise<void>
  leave(): void
}

interface Gathering {
  begin(): Member
}

/** Lets those that began together go on together. One that is slow is waited for once, not by each that comes later. */
export const createGathering = (maxWaitMs: number): Gathering => {
  const missing = new Set<Promise<void>>()

  return {
    begin: () => {
      let leave: () => void = () => undefined
      const left = new Promise<void>((resolve) => {
        const timer = setTimeout(() => leave(), maxWaitMs)
        leave = () => {
          clearTimeout(timer)
          missing.delete(left)
          resolve()
        }
      })
      missing.add(left)
      return {
        leave,
        arrive: async () => {
          leave()
          await Promise.all(missing)
        },
      }
    },
  }
}
