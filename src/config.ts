import { join } from 'node:path'
import type { AnyChainFamily } from './chains/chain.js'
import { families as knownFamilies } from './chains/index.js'
import type { EnabledChain } from './chains/openChains.js'
import {
  freezeDeeply,
  mayProbePrivateHosts,
  privateBlocks,
  readMail,
  readSandbox,
  readTiers,
  type SandboxMode,
  sandboxNamespace,
} from './config/derived.js'
import { environmentShape, listInvalidCombinations, withPassword } from './config/environment.js'
import { listPresent, sortVariables } from './config/sortVariables.js'
import type { Secret } from './platform/secret.js'
import { readSecretFiles } from './platform/secretFiles.js'
import { readTracing, type TracingSettings } from './platform/tracer/settings.js'
import type { ClaimPolicy, ConfiguredRecipient } from './protocol/recipients.js'
import type { RequestLimitSettings } from './protocol/requestLimits.js'
import type { Tiers } from './protocol/tiers.js'

/** Validated configuration; secrets print as `[secret]`. */
export interface Config {
  readonly server: {
    readonly host: string
    readonly port: number
    readonly trustProxy: readonly string[]
    readonly maxPaymentBodyBytes: number
    /** Open connections; 0: no cap. */
    readonly maxConnections: number
    readonly maxConnectionsPerAddress: number
    /** Requests in progress; 0: no cap. */
    readonly maxRequestsPerAddress: number
    /** From SIGTERM until the drain begins; meanwhile `/ready` answers 503. */
    readonly shutdownDelayMs: number
  }
  /** Processes that serve requests. */
  readonly workers: number
  readonly sandbox: SandboxMode
  readonly operatorToken: Secret | null
  /** Null: /metrics is public. */
  readonly metricsToken: Secret | null
  /** Null: nothing is traced. */
  readonly tracing: TracingSettings | null
  readonly accounts: {
    readonly apiKeyRequired: boolean
    /**
     * Who sees a full key. `once`: the caller that creates it; afterwards programs on this machine and
     * operators. `open`: every caller. `verified`: only the e-mail address, by mail.
     */
    readonly registration: 'once' | 'open' | 'verified'
    /** Web origins that may call the account routes (CORS). */
    readonly origins: readonly string[]
    /** Null: generated once and stored in `stores.dataFolder`. */
    readonly keyEncryptionSecret: Secret | null
    /** Opens what is not yet sealed again after a rotation of the secret. */
    readonly previousKeyEncryptionSecret: Secret | null
    /** In the prefix of new API keys. */
    readonly keyEnvironment: 'live' | 'test'
    /** Caps; 0: none. */
    readonly projectsPerMailbox: number
    readonly mailboxesPerDomain: number
    /** Without a cap per domain. */
    readonly publicMailDomains: readonly string[]
    /** Not null if registration is `verified`; otherwise it mails changes to keys. */
    readonly mail: { readonly url: Secret; readonly from: string } | null
  }
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly stores: {
    /** Whether the data are those of a sandbox, apart from real ones. */
    readonly isSandbox: boolean
    /** Null: the embedded database in `dataFolder`. */
    readonly databaseUrl: Secret | null
    readonly databasePoolSize: number
    /** Null: pages that are looked at are read from the database itself. */
    readonly databaseReadUrl: Secret | null
    readonly databaseReadPoolSize: number
    /** Bounds each statement of such a page. */
    readonly databaseReadTimeoutMs: number
    readonly dataFolder: string
    /** Null: limits are counted per process. */
    readonly redisUrl: Secret | null
  }
  readonly requestLimits: RequestLimitSettings | null
  readonly tiers: Tiers
  readonly webhooks: {
    /** Blocks of addresses that webhooks may reach although they are not public. */
    readonly allow: readonly string[]
  }
  /** By how much the clock of a wallet that signs in may be ahead of ours. */
  readonly clockToleranceSeconds: number
  /** Null: resources are not listed. */
  readonly discovery: {
    /** Whether resources on loopback and private hosts are listed. */
    readonly allowsPrivateHosts: boolean
    readonly staleMs: number
    /** Which private blocks may be asked for the owner of a listing besides public addresses; null: none is asked. */
    readonly probe: { readonly allow: readonly string[] } | null
  } | null
  readonly settleWaitMs: number
  /** Null: signed transactions are never deleted. */
  readonly keepBroadcastsMs: number | null
  /** How long before its capture deadline the account of a hold is warned. */
  readonly holdWarnedBeforeMs: number
  /** How long before it a hold is captured or voided whose account asks for that. */
  readonly holdActsBeforeMs: number
  readonly verifyDeadlineMs: number
  /** How long after its close a stream over a channel waits for the receiver's signature. */
  readonly streamUnsignedForMs: number
  readonly spending: {
    readonly settlesPerPayerPerHour: number
    readonly settlesPerRecipientPerHour: number
    readonly failuresPerPayerPerHour: number
    readonly anonymousFailuresPerRecipientPerHour: number
  }
  /** Payments that clients make themselves. */
  readonly exactDirect: {
    /** It applies to recipients without a statement. */
    readonly claims: ClaimPolicy
    readonly recipients: readonly ConfiguredRecipient[]
  }
  /** Which amounts pay under the scheme `exact`. */
  readonly exactAmount: 'at_least' | 'equal'
  /** Share of a settlement's gas that a payment must be worth; 0: no minimum. */
  readonly minPaymentGasShare: number
  /** On TON and TRON, whose payments of callers without a key can be sponsored; `*`: every recipient. */
  readonly sponsoredRecipients: '*' | readonly string[]
  /** Whether payments from the cross-check amount on need a network with endpoints of two hosts. */
  readonly requiresCrossCheck: boolean
  readonly concurrency: {
    readonly settlesAtOncePerPayer: number
    readonly settlesAtOncePerCaller: number
  }
  readonly chains: readonly EnabledChain[]
}

/** Listed by `GET /info`. */
export const listFeatures = ({
  chains,
  stores,
  accounts,
  sandbox,
  discovery,
  exactAmount,
}: Config): Readonly<Record<string, boolean | string>> => ({
  ...Object.fromEntries(chains.map(({ namespace }) => [namespace, true])),
  idempotency: true,
  webhooks: true,
  discovery: discovery !== null,
  signIn: true,
  apiKeyRequired: accounts.apiKeyRequired,
  registration: accounts.registration,
  sharedLimits: stores.redisUrl !== null,
  sandbox: sandbox !== 'off',
  exactAmount,
})

/** The message lists every invalid variable, without values. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(['The configuration is invalid:', ...problems.map((problem) => `  ${problem}`)].join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/**
 * Empty variables count as absent; `<NAME>_FILE` is read for each secret. A variable that stands in the file `.env` must be
 * a setting; of others, only those that are a setting with a slip are refused. Throws `ConfigError`.
 */
export const readConfig = (
  environment: Readonly<Record<string, string | undefined>>,
  families: readonly AnyChainFamily[] = knownFamilies,
  namesInFile: readonly string[] = [],
): Config => {
  const { present: given, problems: unknown } = sortVariables(listPresent(environment), families, namesInFile)
  const { environment: present, problems: unread } = readSecretFiles(given)
  const parsed = environmentShape.safeParse(present)
  const problems = [
    ...unknown,
    ...unread,
    ...(parsed.success
      ? []
      : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)),
    ...listInvalidCombinations(present),
  ]
  const chains: EnabledChain[] = []
  const prepare = (family: AnyChainFamily, environment: Readonly<Record<string, string>>): void => {
    const preparation = family.prepare(environment)
    if ('problems' in preparation) problems.push(...preparation.problems)
    else if (preparation.open !== null) chains.push({ namespace: family.namespace, ...preparation })
  }
  for (const family of families) if (family.namespace !== sandboxNamespace) prepare(family, present)
  const sandbox = readSandbox(present, chains)
  if (sandbox === 'contradiction') {
    const configured = chains.map(({ namespace }) => namespace).join(', ')
    problems.push(`SANDBOX: must not be true beside a chain: ${configured} is configured`)
  } else if (sandbox !== 'off') {
    const family = families.find(({ namespace }) => namespace === sandboxNamespace)
    if (family !== undefined) prepare(family, { SANDBOX: 'true' })
  }
  if (!parsed.success || problems.length > 0 || sandbox === 'contradiction') throw new ConfigError(problems)

  const variables = parsed.data
  const isSandbox = chains.some(({ namespace }) => namespace === sandboxNamespace)
  return freezeDeeply({
    server: {
      host: variables.HOST,
      port: variables.PORT,
      trustProxy: variables.TRUST_PROXY,
      maxPaymentBodyBytes: variables.MAX_PAYMENT_BODY_BYTES,
      maxConnections: variables.MAX_CONNECTIONS,
      maxConnectionsPerAddress: variables.MAX_CONNECTIONS_PER_ADDRESS,
      maxRequestsPerAddress: variables.MAX_REQUESTS_PER_ADDRESS,
      shutdownDelayMs: variables.SHUTDOWN_DELAY_SECONDS * 1_000,
    },
    workers: variables.WORKERS,
    sandbox: isSandbox ? sandbox : 'off',
    operatorToken: variables.OPERATOR_TOKEN ?? null,
    metricsToken: variables.METRICS_TOKEN ?? null,
    tracing: readTracing(variables),
    accounts: {
      apiKeyRequired: variables.API_KEY_REQUIRED,
      registration: variables.REGISTRATION ?? 'once',
      origins: variables.CORS_ACCOUNT_ORIGINS,
      keyEncryptionSecret: variables.KEY_ENCRYPTION_SECRET ?? null,
      previousKeyEncryptionSecret: variables.KEY_ENCRYPTION_PREVIOUS_SECRET ?? null,
      keyEnvironment: variables.API_KEY_ENVIRONMENT ?? (isSandbox ? 'test' : 'live'),
      projectsPerMailbox: variables.PROJECTS_PER_MAILBOX,
      mailboxesPerDomain: variables.MAILBOXES_PER_DOMAIN,
      publicMailDomains: variables.PUBLIC_MAIL_DOMAINS,
      mail: readMail(variables),
    },
    logLevel: variables.LOG_LEVEL,
    stores: {
      isSandbox,
      databaseUrl: withPassword(variables.DATABASE_URL, variables.DATABASE_PASSWORD),
      databasePoolSize: variables.DATABASE_POOL_SIZE,
      databaseReadUrl: withPassword(variables.DATABASE_READ_URL, variables.DATABASE_READ_PASSWORD),
      databaseReadPoolSize: variables.DATABASE_READ_POOL_SIZE,
      databaseReadTimeoutMs: variables.DATABASE_READ_TIMEOUT_MS,
      // A real instance keeps its data in the folder itself.
      dataFolder: isSandbox ? join(variables.DATA_FOLDER, 'sandbox') : variables.DATA_FOLDER,
      redisUrl: withPassword(variables.REDIS_URL, variables.REDIS_PASSWORD),
    },
    requestLimits:
      variables.RATE_LIMITS === 'off'
        ? null
        : {
            anonymousRequestsPerMinute: variables.ANONYMOUS_REQUESTS_PER_MINUTE,
            anonymousSettlesPerMinute: variables.ANONYMOUS_SETTLES_PER_MINUTE,
            registrationsPerMinute: variables.REGISTRATIONS_PER_MINUTE,
            registrationsPerAddressPerHour: variables.REGISTRATIONS_PER_ADDRESS_PER_HOUR,
          },
    tiers: readTiers(variables, isSandbox),
    webhooks: { allow: variables.WEBHOOK_ALLOW },
    clockToleranceSeconds: variables.SIWX_CLOCK_TOLERANCE_SECONDS,
    discovery:
      variables.DISCOVERY === 'off'
        ? null
        : {
            allowsPrivateHosts:
              variables.DISCOVERY_PRIVATE_HOSTS === undefined
                ? isSandbox || !variables.API_KEY_REQUIRED
                : variables.DISCOVERY_PRIVATE_HOSTS === 'true',
            staleMs: variables.DISCOVERY_STALE_DAYS * 86_400_000,
            probe:
              variables.DISCOVERY_PROBE === 'off'
                ? null
                : {
                    allow: mayProbePrivateHosts(variables, sandbox) ? privateBlocks : [],
                  },
          },
    settleWaitMs: variables.SETTLE_WAIT_SECONDS * 1_000,
    holdWarnedBeforeMs: variables.HOLD_EXPIRING_HOURS * 3_600_000,
    streamUnsignedForMs: variables.STREAM_UNSIGNED_HOURS * 3_600_000,
    holdActsBeforeMs: variables.HOLD_ACTION_MINUTES * 60_000,
    keepBroadcastsMs:
      variables.RETENTION_BROADCASTS_DAYS === 0 ? null : variables.RETENTION_BROADCASTS_DAYS * 86_400_000,
    verifyDeadlineMs: variables.VERIFY_DEADLINE_SECONDS * 1_000,
    // The fixed payers of a sandbox, and their recipients, are shared by all callers.
    spending: {
      settlesPerPayerPerHour: isSandbox ? 0 : variables.SETTLES_PER_PAYER_PER_HOUR,
      settlesPerRecipientPerHour: isSandbox ? 0 : variables.SETTLES_PER_RECIPIENT_PER_HOUR,
      failuresPerPayerPerHour: isSandbox ? 0 : variables.FAILED_SETTLES_PER_PAYER_PER_HOUR,
      anonymousFailuresPerRecipientPerHour: isSandbox
        ? 0
        : variables.ANONYMOUS_FAILED_SETTLES_PER_RECIPIENT_PER_HOUR,
    },
    exactDirect: {
      claims: variables.EXACT_DIRECT_CLAIMS ?? (variables.API_KEY_REQUIRED ? 'keyed' : 'open'),
      recipients: variables.EXACT_DIRECT_RECIPIENTS,
    },
    exactAmount: variables.EXACT_AMOUNT,
    minPaymentGasShare: variables.MIN_PAYMENT_GAS_SHARE,
    sponsoredRecipients: variables.SPONSORED_RECIPIENTS,
    requiresCrossCheck: variables.REQUIRE_CROSS_CHECK,
    concurrency: {
      settlesAtOncePerPayer: isSandbox ? 0 : variables.SETTLES_AT_ONCE_PER_PAYER,
      settlesAtOncePerCaller: variables.SETTLES_AT_ONCE_PER_CALLER,
    },
    chains,
  })
}
