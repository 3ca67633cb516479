import type { Logger } from '../../ports/logger.js'
import { type ContractPresence, isPresent } from './rpc/presence.js'
import type { EvmNetworkSettings } from './settings.js'
import type { TokenFinding, TokenRegistry } from './tokens/tokenRegistry.js'

/** What `/supported` states of a network that only its nodes know: which contracts it has, and its tokens' domains. */
export interface Offer {
  /**
   * Reads what is not known yet. Throws `UnknownOfferError` until everything was read once: before, the network would be
   * listed with half of its kinds, or kinds with half of their `extra`.
   */
  read(): Promise<void>
  /** What the network lacks, as sentences; nothing before it is known. Public. */
  listLimitations(): readonly string[]
}

interface OfferDependencies {
  readonly tokens: Pick<TokenRegistry, 'find'>
  /** Whether the network has the router decides what is listed. */
  readonly router: ContractPresence
  /** Whether the network has Permit2 and x402's proxy, by scheme. */
  readonly proxies: Readonly<Record<'exact' | 'upto', ContractPresence>>
  /** Whether the network has the escrow of `auth-capture` decides what is listed. */
  readonly escrow: ContractPresence
  /** The same of the settlement of `batch-settlement`. */
  readonly channels: ContractPresence
  readonly batchContract: ContractPresence
  readonly logger: Logger
}

export const createOffer = (
  { network, tokens: offered }: EvmNetworkSettings,
  { tokens, router, proxies, escrow, channels, batchContract, logger }: OfferDependencies,
): Offer => {
  let known: readonly TokenFinding[] | null = null

  const readAll = async (): Promise<readonly TokenFinding[]> => {
    const [findings] = await Promise.all([
      Promise.all(offered.map(({ address }) => tokens.find(address))),
      ...[router, escrow, channels, ...Object.values(proxies)].map((presence) => presence.ask()),
      isPresent(batchContract),
    ])
    return findings
  }

  const report = (findings: readonly TokenFinding[]): void => {
    if (batchContract.peek() === false) {
      logger.info({ network, hint: 'run npm run deploy' }, 'network.batch_contract_missing')
    }
    if (router.peek() === false) {
      logger.info({ network, hint: 'run npm run deploy for upto by permit' }, 'network.router_missing')
    }
    for (const [index, setting] of offered.entries()) {
      const finding = findings[index]
      if (finding !== undefined) reportToken(setting, finding)
    }
  }

  /** Logs problems that would otherwise only appear as refused payments. */
  const reportToken = (setting: EvmNetworkSettings['tokens'][number], finding: TokenFinding): void => {
    const named = { network, asset: setting.address }
    if ('refusedAs' in finding) {
      logger.warn({ ...named, reason: finding.refusedAs }, 'token.unavailable')
      return
    }
    const { domain, symbol, decimals } = finding.token
    const isAsConfigured =
      (setting.name ?? domain?.name) === domain?.name &&
      (setting.version ?? domain?.version) === domain?.version
    if (domain?.isProven !== true) logger.warn({ ...named, symbol }, 'token.domain_unproven')
    else if (!isAsConfigured) logger.warn({ ...named, ...domain }, 'token.domain_mismatch')
    else
      logger.info({ ...named, symbol, decimals, name: domain.name, version: domain.version }, 'token.offered')
  }

  return {
    listLimitations: () => [
      ...(router.peek() === false
        ? ['upto by permit, and streams by permit, are not offered without the router: run npm run deploy']
        : []),
      ...Object.entries(proxies).flatMap(([scheme, { peek }]) =>
        peek() === false
          ? [`${scheme} by Permit2 is not offered: the network lacks Permit2 or x402's proxy for it`]
          : [],
      ),
    ],
    read: async () => {
      const before = known
      // What was read once is not forgotten while nodes fail: only what was missing is asked for again.
      known = await readAll().catch((cause: unknown) => {
        if (before === null) throw new UnknownOfferError(cause)
        return before
      })
      if (before === null) report(known)
    },
  }
}

/** Nodes prove the chain, and answer no calls of its contracts. */
export class UnknownOfferError extends Error {
  constructor(cause: unknown) {
    super('its nodes do not answer which contracts it has', { cause })
    this.name = 'UnknownOfferError'
  }
}
