/** Whether a network has a contract. */
export interface ContractPresence {
  /** Asks until the contract is there, at most every ten minutes. Throws if no node answers and none did before. */
  ask(): Promise<boolean>
  /** The last answer; null before the first. */
  peek(): boolean | null
}

// An operator who deploys it sees it used within this time, without a restart.
const recheckMs = 600_000

export const createPresence = (
  read: () => Promise<boolean>,
  now: () => number = () => performance.now(),
): ContractPresence => {
  let known: { readonly isPresent: boolean; readonly atMs: number } | null = null
  let reading: Promise<boolean> | null = null
  const readOnce = async (): Promise<boolean> => {
    try {
      const isPresent = await read()
      known = { isPresent, atMs: now() }
      return isPresent
    } finally {
      reading = null
    }
  }
  return {
    peek: () => known?.isPresent ?? null,
    ask: async () => {
      if (known !== null && (known.isPresent || now() - known.atMs < recheckMs)) return known.isPresent
      reading ??= readOnce()
      return await reading.catch((error: unknown) => {
        // What lacks the contract works as before, also while nodes do not answer.
        if (known === null) throw error
        return known.isPresent
      })
    },
  }
}

/** Serves what works without the contract: false while no node answers. */
export const isPresent = async ({ ask }: Pick<ContractPresence, 'ask'>): Promise<boolean> =>
  await ask().catch(() => false)
