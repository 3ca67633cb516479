import type { z } from 'zod'
import type { EnabledChain } from '../chains/openChains.js'
import { ownNetworkBlocks } from '../platform/configValues.js'
import type { Secret } from '../platform/secret.js'
import { higherRate, selfHostedTiers, specificationTiers, type Tiers } from '../protocol/tiers.js'
import type { environmentShape } from './environment.js'

/** `default`: nothing else was configured. `off`: payments are real. */
export type SandboxMode = 'off' | 'chosen' | 'default'

export const sandboxNamespace = 'sandbox'

export const privateBlocks = [...ownNetworkBlocks.loopback, ...ownNetworkBlocks.private]

/**
 * It is stricter than listing: strangers choose the URL, so that a public instance must never do it by default. A sandbox by
 * default is on a developer's machine, but not one with a database server of its own, such as in containers.
 */
export const mayProbePrivateHosts = (
  {
    DISCOVERY_PRIVATE_HOSTS: privateHosts,
    DATABASE_URL: databaseUrl,
  }: Pick<z.infer<typeof environmentShape>, 'DISCOVERY_PRIVATE_HOSTS' | 'DATABASE_URL'>,
  sandbox: SandboxMode,
): boolean =>
  privateHosts === undefined ? sandbox === 'default' && databaseUrl === undefined : privateHosts === 'true'

/**
 * Without SANDBOX, an instance without a chain is a sandbox, wherever its database is, unless it requires keys as one for
 * production does: then a forgotten variable must not make it one.
 */
export const readSandbox = (
  { SANDBOX, API_KEY_REQUIRED }: Readonly<Record<string, string>>,
  chains: readonly EnabledChain[],
): SandboxMode | 'contradiction' => {
  if (SANDBOX === 'true') return chains.length === 0 ? 'chosen' : 'contradiction'
  const isBare = chains.length === 0 && API_KEY_REQUIRED !== 'true'
  return SANDBOX === undefined && isBare ? 'default' : 'off'
}

/**
 * Where keys are optional, the rate of a key is never below the one without; except in a sandbox, where the limits of a
 * hosted service are tried.
 */
export const readTiers = (
  {
    TIERS: configured,
    API_KEY_REQUIRED: isKeyRequired,
    ANONYMOUS_REQUESTS_PER_MINUTE: anonymous,
  }: Pick<z.infer<typeof environmentShape>, 'TIERS' | 'API_KEY_REQUIRED' | 'ANONYMOUS_REQUESTS_PER_MINUTE'>,
  isSandbox: boolean,
): Tiers => {
  const isHosted = isKeyRequired || isSandbox
  const table = configured ?? (isHosted ? specificationTiers.table : selfHostedTiers)
  const raised = Object.entries(table).map(([id, tier]) => {
    const floor = anonymous === 0 ? -1 : anonymous
    return [id, isHosted ? tier : { ...tier, rpmLimit: higherRate(tier.rpmLimit, floor) }] as const
  })
  return {
    table: Object.fromEntries(raised),
    source: configured === undefined ? (isHosted ? 'specification' : 'self-hosted') : 'configured',
    registration: Object.keys(table)[0] ?? '',
  }
}

export const readMail = ({
  SMTP_URL: url,
  MAIL_FROM: from,
}: Pick<z.infer<typeof environmentShape>, 'SMTP_URL' | 'MAIL_FROM'>): {
  readonly url: Secret
  readonly from: string
} | null => (url === undefined || from === undefined ? null : { url, from })

export const freezeDeeply = <T extends object>(value: T): T => {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null) freezeDeeply(part)
  }
  Object.freeze(value)
  return value
}
