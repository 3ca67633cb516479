import type { NetworkHealth, SignerHealth } from '../../chains/chain.js'
import { type EnabledChain, openChains } from '../../chains/openChains.js'
import { withTimeout } from '../../concurrency/deadline.js'
import { type Config, ConfigError } from '../../config.js'
import { systemClock } from '../../platform/clock.js'
import { silentLogger } from '../../platform/logger.js'
import { scrubText } from '../../platform/scrub.js'
import type { Logger } from '../../ports/logger.js'
import type { SignerLanes } from '../../ports/signerLanes.js'
import { createMemoryRateLimiter } from '../../stores/cache/rateLimiter.js'
import { checkStores } from './checkStores.js'
import type { Finding } from './tables.js'

/** `read` may throw `ConfigError`. Changes nothing: no migration, no lease, no transaction. Every wait has a deadline. */
export const checkInstallation = async (read: () => Config): Promise<readonly Finding[]> => {
  const subject = 'configuration'
  let config: Config
  try {
    config = read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map((text) => ({ level: 'error', subject, text }))
  }
  // One after the other: the libraries of the chains can take seconds to load, in which a connection would time out.
  const stores = await checkStores(config)
  const networks = await checkNetworks(config.chains)
  const valid: Finding = { level: 'ok', subject, text: `valid, ${config.chains.length} chain families` }
  return [valid, ...listRisks(config), ...stores, ...networks]
}

const listRisks = ({ accounts, stores, requestLimits, sandbox }: Config): readonly Finding[] => {
  const risks = [
    ...(sandbox === 'off' ? [] : ['the instance is a sandbox: no payment is real']),
    ...(accounts.registration === 'open'
      ? ['REGISTRATION is open: every caller sees the full key of every account']
      : []),
    ...(stores.databaseUrl !== null && accounts.keyEncryptionSecret === null
      ? ['KEY_ENCRYPTION_SECRET is unset: other instances cannot open the keys of this one']
      : []),
    ...(requestLimits === null ? ['RATE_LIMITS is off'] : []),
  ]
  return risks.map((text) => ({ level: 'warning', subject: 'configuration', text }))
}

const deadlineMs = 30_000

/** Opens each family as the start does, without lanes: nothing is leased, signed or sent. */
const checkNetworks = async (families: readonly EnabledChain[]): Promise<readonly Finding[]> => {
  if (families.length === 0) {
    return [
      { level: 'warning', subject: 'networks', text: 'no chain is configured: no payment is supported' },
    ]
  }
  return (await Promise.all(families.map(checkFamily))).flat()
}

const checkFamily = async (family: EnabledChain): Promise<readonly Finding[]> => {
  const { logger, warnings } = collectWarnings()
  const limiter = createMemoryRateLimiter({ clock: systemClock })
  // No payment is judged here.
  const context = { clock: systemClock, logger, limiter, lanes: noLanes, minPaymentGasShare: 0 }
  const opening = openChains([family], context)
  try {
    const chains = await withTimeout(opening, deadlineMs)
    const findings = chains.health().flatMap(describeNetwork)
    return [...findings, ...warnings()]
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    const text = isLate ? `no answer within ${deadlineMs / 1_000} s` : describeError(error)
    return [{ level: 'error', subject: family.namespace, text }]
  } finally {
    // It is closed after the deadline as well, whenever it has opened.
    void opening.then(
      (chains) => chains.close(),
      () => undefined,
    )
    await limiter.close()
  }
}

const describeError = (error: unknown): string =>
  scrubText(error instanceof Error ? error.message : 'unknown error')

const describeNetwork = (health: NetworkHealth): readonly Finding[] => {
  const { network, problem, endpoints, isRpcReachable } = health
  const down = endpoints.filter(({ isUp }) => !isUp).map(({ host }) => host)
  const answering = `${endpoints.length - down.length} of ${endpoints.length} endpoints answer`
  const heads = endpoints.flatMap(({ head }) => (head === null ? [] : [head]))
  const newest = heads.sort((left, right) => Number(right - left))[0] ?? '-'
  const nodes: Finding = !isRpcReachable
    ? { level: 'error', subject: network, text: scrubText(problem ?? 'no endpoint answers') }
    : {
        level: down.length === 0 ? 'ok' : 'warning',
        subject: network,
        text: `${answering}, newest block ${newest}${down.length === 0 ? '' : `; down: ${down.join(', ')}`}`,
      }
  const unserved: readonly Finding[] =
    isRpcReachable && problem !== null
      ? [{ level: 'error', subject: network, text: `does not settle: ${scrubText(problem)}` }]
      : []
  return [nodes, ...unserved, ...health.signers.map((signer) => describeSigner(health, signer))]
}

const describeSigner = (
  { network, balanceLevel }: NetworkHealth,
  { signer, balance, settlementsLeft }: SignerHealth,
): Finding => {
  const isEnough = balanceLevel === 'ok' && settlementsLeft > 0
  const level = balanceLevel === 'empty' ? 'error' : isEnough ? 'ok' : 'warning'
  const text = `signer ${signer}: balance ${balance}, about ${settlementsLeft} settlements`
  return { level, subject: network, text }
}

/** What the start would warn of, besides what `describeSigner` says. */
const collectWarnings = (): { readonly logger: Logger; warnings(): readonly Finding[] } => {
  const found: Finding[] = []
  const logger: Logger = {
    ...silentLogger,
    warn: (fields, message) => {
      if (message.startsWith('signer.')) return
      const { network = 'networks', ...rest } = fields
      const details = Object.entries(rest).flatMap(([name, value]) =>
        typeof value === 'string' ? [`${name} ${value}`] : [],
      )
      const text = scrubText([message, ...details].join(', '))
      found.push({ level: 'warning', subject: String(network), text })
    },
  }
  return { logger, warnings: () => found }
}

/** Holds no lease, so that maintenance of the networks does nothing beside a running service. */
const noLanes: SignerLanes = {
  advance: async () => undefined,
  record: async () => ({ lost: [] }),
  replace: async () => null,
  fillNonceGap: async () => null,
  listFrom: async () => [],
  peekNext: () => null,
  readNext: async () => 0,
  rewindNonce: async () => false,
  lease: async () => [],
}
