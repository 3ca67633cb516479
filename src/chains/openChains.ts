import type { Logger } from '../ports/logger.js'
import type { Scheme } from '../schemes/scheme.js'
import type { ChainContext, Deploy, NetworkHealth, OpenChain } from './chain.js'
import { findCommonLagMs } from './common/chainClock.js'
import { requireExactAmount } from './common/requireExactAmount.js'

export interface EnabledChain {
  readonly namespace: string
  readonly open: (context: ChainContext) => Promise<OpenChain>
  readonly deploy?: Deploy
}

interface OpenChains extends Omit<OpenChain, 'directChains' | 'listClockLagsMs'> {
  isServing(network: string): boolean
  /** How far the process's clock is behind every network that was observed lately, as far as deadlines follow it. */
  getClockLagMs(): number
}

/** Opens families in parallel; a failure stops the start and names the family. */
export const openChains = async (
  families: readonly EnabledChain[],
  given: ChainContext,
): Promise<OpenChains> => {
  const openedAt = performance.now()
  const usedAt = new Map<string, number>()
  const { countInstances = () => 1 } = given
  const findUsedAt = (network: string): number => usedAt.get(network) ?? openedAt
  const context = { ...given, activity: { findUsedAt, countInstances } }
  const noteUse = (scheme: Scheme): Scheme => ({
    ...scheme,
    verify: (payment, options) => {
      usedAt.set(scheme.kind.network, performance.now())
      return scheme.verify(payment, options)
    },
  })
  const chains = await Promise.all(families.map((family) => openFamily(family, context)))
  if (chains.length === 0) warnOfNone(context.logger)
  const health = (): readonly NetworkHealth[] => chains.flatMap((chain) => chain.health())
  return {
    schemes: chains
      .flatMap(({ schemes }) => schemes.map(noteUse))
      .map((scheme) => (context.exactAmount === 'equal' ? requireExactAmount(scheme) : scheme)),
    contractReaders: chains.flatMap(({ contractReaders }) => contractReaders),
    health,
    sandbox: chains.find(({ sandbox }) => sandbox !== null)?.sandbox ?? null,
    isServing: (network) => health().find((each) => each.network === network)?.isServing ?? false,
    getClockLagMs: () => findCommonLagMs(chains.flatMap((chain) => chain.listClockLagsMs())),
    close: async () => {
      await Promise.all(chains.map((chain) => chain.close()))
    },
  }
}

const openFamily = async ({ namespace, open }: EnabledChain, context: ChainContext): Promise<OpenChain> => {
  try {
    return await open(context)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unknown error'
    throw new Error(`The chain family ${namespace} cannot open: ${reason}`, { cause })
  }
}

const warnOfNone = (logger: Logger): void =>
  logger.warn(
    {
      hint: 'the service starts and supports nothing: set EVM_PRIVATE_KEY, SOLANA_PRIVATE_KEY, TON_MNEMONIC, or the RPC URL of another network',
    },
    'chains.none_configured',
  )
