import type { Logger } from '../ports/logger.js'
import type { NetworkHealth, SignerHealth } from './chain.js'

/** How far our accounts on one network get with what they own. */
export interface SignerRunway {
  /** Takes what was measured; says once in the log who falls under the threshold, and once who is above it again. */
  note(measured: readonly SignerHealth[]): void
  /** Whether an account can pay for one more settlement, as far as is known. */
  canPay(signer: string): boolean
  list(): readonly SignerHealth[]
  /** The word for all of them together. */
  describe(): NetworkHealth['runway']
}

/** Builds the runway of one network; until something is noted nobody can pay. */
export const createSignerRunway = ({
  network,
  lowRunwaySettles,
  logger,
}: {
  readonly network: string
  readonly lowRunwaySettles: number
  readonly logger: Logger
}): SignerRunway => {
  let known: ReadonlyMap<string, SignerHealth> = new Map()

  const reportChange = (before: SignerHealth | undefined, { signer, settlesLeft }: SignerHealth) => {
    const isLow = settlesLeft < lowRunwaySettles
    const wasLow = before !== undefined && before.settlesLeft < lowRunwaySettles
    if (isLow === wasLow) return
    const fields = { network, signer, settlesLeft }
    if (isLow) logger.warn(fields, 'signer.gas_low')
    else logger.info(fields, 'signer.gas_recovered')
  }

  return {
    note: (measured) => {
      for (const one of measured) reportChange(known.get(one.signer), one)
      known = new Map(measured.map((one) => [one.signer, one]))
    },
    canPay: (signer) => (known.get(signer)?.settlesLeft ?? 0) > 0,
    list: () => [...known.values()],
    describe: () => {
      if (known.size === 0) return 'unknown'
      const settlesLeft = [...known.values()].reduce((sum, one) => sum + one.settlesLeft, 0)
      if (settlesLeft === 0) return 'empty'
      return settlesLeft < lowRunwaySettles ? 'low' : 'ok'
    },
  }
}
