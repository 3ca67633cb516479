import type { OpenChain } from '../../src/chains/chain.js'
import { families } from '../../src/chains/index.js'
import { systemClock } from '../../src/platform/clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import type { Clock } from '../../src/ports/clock.js'
import type { Scheme } from '../../src/schemes/scheme.js'
import { openWithMemoryStores } from './directScheme.js'
import { patientTimeouts } from './patientTimeouts.js'

export interface OpenNetwork {
  /** Of the network; at least one. */
  readonly schemes: readonly Scheme[]
  /** The whole family. */
  readonly opened: OpenChain
  close(): Promise<void>
}

/** One network, as the service opens it, without journal and database. */
export const openNetwork = async (
  network: string,
  environment: Readonly<Record<string, string>>,
  clock: Clock = systemClock,
): Promise<OpenNetwork> => {
  for (const family of families) {
    const prepared = family.prepare({ ...patientTimeouts(environment), ...environment })
    if ('problems' in prepared) throw new Error(prepared.problems.join('\n'))
    if (prepared.open === null) continue
    const { opened, close } = await openWithMemoryStores(prepared.open, { clock, logger: silentLogger })
    const schemes = opened.schemes.filter(({ kind }) => kind.network === network)
    if (schemes.length > 0) return { schemes, opened, close }
    await close()
  }
  throw new Error(`${network}: is not configured`)
}
