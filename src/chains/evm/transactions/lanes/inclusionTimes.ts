/** How long transactions of one network take until they are mined. */
export interface InclusionTimes {
  /** A typical time, in milliseconds; zero until one was seen. */
  readonly typicalMs: number
  record(tookMs: number): void
}

const weightOfNewest = 0.2

/** Builds a moving average. */
export const createInclusionTimes = (): InclusionTimes => {
  let typicalMs = 0
  return {
    get typicalMs() {
      return typicalMs
    },
    record: (tookMs) => {
      typicalMs = typicalMs === 0 ? tookMs : typicalMs + weightOfNewest * (tookMs - typicalMs)
    },
  }
}
