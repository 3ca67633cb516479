interface Blocks {
  pause(): void
  resume(): void
  setPaused(isPaused: boolean): void
  stop(): void
}

/** Mines at an interval; null: from `resume` on. Does not keep the process alive. */
export const startBlocks = (mine: () => unknown, blockTimeMs: number | null): Blocks => {
  let isPaused = blockTimeMs === null
  let isMining = false
  const timer = setInterval(async () => {
    if (isPaused || isMining) return
    isMining = true
    try {
      await mine()
    } finally {
      isMining = false
    }
  }, blockTimeMs ?? 1_000)
  timer.unref()
  const setPaused = (isNowPaused: boolean) => {
    isPaused = isNowPaused
  }
  return {
    pause: () => setPaused(true),
    resume: () => setPaused(false),
    setPaused,
    stop: () => clearInterval(timer),
  }
}
