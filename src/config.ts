import { join } from 'node:path'
import { z } from 'zod'
import type { AnyChainFamily } from './chains/chain.js'
import { sponsoredRecipients } from './chains/common/sponsoredRecipients.js'
import { families as knownFamilies } from './chains/index.js'
import type { EnabledChain } from './chains/openChains.js'
import {
  cidrBlocks,
  defaultPublicMailDomains,
  domainNames,
  mailSender,
  oneLine,
  ownNetworkBlocks,
  pageOrigins,
  secretUrl,
  tierTable,
  variableNames,
  visibleText,
  webhookTargets,
} from './platform/configValues.js'
import { directRecipients } from './platform/directRecipients.js'
import { Secret } from './platform/secret.js'
import {
  isSecretName,
  nameOfSecretFile,
  readSecretFiles,
  type SecretFilesReading,
  secretFileOf,
} from './platform/secretFiles.js'
import {
  findMeantName,
  findMisspelt,
  isKnownName,
  isOfOrchestrator,
  isOfPlatform,
  type KnownNames,
} from './platform/variableNames.js'
import { decimalNumber, wholeNumber } from './platform/wholeNumber.js'
import type { ClaimPolicy, ConfiguredRecipient } from './protocol/recipients.js'
import { bodyLimits, defaultRequestLimits, type RequestLimitSettings } from './protocol/requestLimits.js'
import { higherRate, selfHostedTiers, specificationTiers, type Tiers } from './protocol/tiers.js'

const environmentShape = z.object({
  HOST: z.string().default('0.0.0.0'),
  PORT: wholeNumber(0, 65_535).default(8_080),
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be debug, info, warn, error or silent')
    .default('info'),
  TRUST_PROXY: cidrBlocks.default([]),
  MAX_PAYMENT_BODY_BYTES: wholeNumber(bodyLimits.account, bodyLimits.paymentMaximum).default(
    bodyLimits.payment,
  ),
  OPERATOR_TOKEN: visibleText(16).optional(),
  METRICS_TOKEN: visibleText(16).optional(),
  SANDBOX: z.enum(['true', 'false'], 'must be true or false').optional(),
  MAX_CONNECTIONS: wholeNumber(0, 1_000_000).default(20_000),
  MAX_CONNECTIONS_PER_ADDRESS: wholeNumber(0, 1_000_000).default(2_000),
  MAX_REQUESTS_PER_ADDRESS: wholeNumber(0, 1_000_000).default(2_000),
  API_KEY_REQUIRED: z
    .enum(['true', 'false'], 'must be true or false')
    .transform((text) => text === 'true')
    .default(false),
  REGISTRATION: z.enum(['once', 'open', 'verified'], 'must be once, open or verified').optional(),
  CORS_ACCOUNT_ORIGINS: pageOrigins.default([]),
  KEY_ENCRYPTION_SECRET: visibleText(32).optional(),
  KEY_ENCRYPTION_PREVIOUS_SECRET: visibleText(32).optional(),
  API_KEY_ENVIRONMENT: z.enum(['live', 'test'], 'must be live or test').optional(),
  TIERS: tierTable.optional(),
  PROJECTS_PER_MAILBOX: wholeNumber(0, 1_000_000).default(20),
  MAILBOXES_PER_DOMAIN: wholeNumber(0, 1_000_000_000).default(200),
  PUBLIC_MAIL_DOMAINS: domainNames.default([...defaultPublicMailDomains]),
  SMTP_URL: secretUrl('smtp:', 'smtps:').optional(),
  MAIL_FROM: mailSender.optional(),
  DATABASE_URL: secretUrl('postgres:', 'postgresql:').optional(),
  DATABASE_PASSWORD: oneLine.optional(),
  DATABASE_POOL_SIZE: wholeNumber(2, 500).default(20),
  DATABASE_READ_URL: secretUrl('postgres:', 'postgresql:').optional(),
  DATABASE_READ_PASSWORD: oneLine.optional(),
  DATABASE_READ_POOL_SIZE: wholeNumber(1, 100).default(5),
  DATA_FOLDER: z.string().default('./data'),
  REDIS_URL: secretUrl('redis:', 'rediss:').optional(),
  REDIS_PASSWORD: oneLine.optional(),
  WEBHOOK_ALLOW: webhookTargets.default([]),
  DISCOVERY: z.enum(['on', 'off'], 'must be on or off').default('on'),
  DISCOVERY_PRIVATE_HOSTS: z.enum(['true', 'false'], 'must be true or false').optional(),
  DISCOVERY_STALE_DAYS: wholeNumber(1, 3_650).default(30),
  DISCOVERY_PROBE: z.enum(['on', 'off'], 'must be on or off').default('on'),
  RATE_LIMITS: z.enum(['on', 'off'], 'must be on or off').default('on'),
  ANONYMOUS_REQUESTS_PER_MINUTE: wholeNumber(0, 1_000_000_000).default(
    defaultRequestLimits.anonymousRequestsPerMinute,
  ),
  ANONYMOUS_SETTLES_PER_MINUTE: wholeNumber(0, 1_000_000_000).default(
    defaultRequestLimits.anonymousSettlesPerMinute,
  ),
  REGISTRATIONS_PER_MINUTE: wholeNumber(0, 1_000_000_000).default(
    defaultRequestLimits.registrationsPerMinute,
  ),
  REGISTRATIONS_PER_ADDRESS_PER_HOUR: wholeNumber(0, 1_000_000_000).default(
    defaultRequestLimits.registrationsPerAddressPerHour,
  ),
  SIWX_CLOCK_TOLERANCE_SECONDS: wholeNumber(0, 300).default(60),
  SETTLE_WAIT_SECONDS: wholeNumber(1, 120).default(25),
  VERIFY_DEADLINE_SECONDS: wholeNumber(1, 60).default(10),
  SETTLES_PER_PAYER_PER_HOUR: wholeNumber(0, 1_000_000_000).default(3_600),
  SETTLES_PER_RECIPIENT_PER_HOUR: wholeNumber(0, 1_000_000_000).default(36_000),
  FAILED_SETTLES_PER_PAYER_PER_HOUR: wholeNumber(0, 1_000_000_000).default(10),
  ANONYMOUS_FAILED_SETTLES_PER_RECIPIENT_PER_HOUR: wholeNumber(0, 1_000_000_000).default(100),
  EXACT_DIRECT_CLAIMS: z.enum(['keyed', 'open'], 'must be keyed or open').optional(),
  EXACT_DIRECT_RECIPIENTS: directRecipients.default([]),
  SPONSORED_RECIPIENTS: sponsoredRecipients.default([]),
  EXACT_AMOUNT: z.enum(['at_least', 'equal'], 'must be at_least or equal').default('at_least'),
  MIN_PAYMENT_GAS_SHARE: decimalNumber(100).default(0.1),
  REQUIRE_CROSS_CHECK: z
    .enum(['true', 'false'], 'must be true or false')
    .transform((text) => text === 'true')
    .default(true),
  SETTLES_AT_ONCE_PER_PAYER: wholeNumber(0, 100_000).default(16),
  SETTLES_AT_ONCE_PER_CALLER: wholeNumber(0, 100_000).default(2_000),
  OTHER_VARIABLES: variableNames.default([]),
})

const listInvalidCombinations = (present: Readonly<Record<string, string>>): readonly string[] => {
  const { API_KEY_REQUIRED, REGISTRATION, KEY_ENCRYPTION_SECRET, DATABASE_URL, SMTP_URL, MAIL_FROM } = present
  const { DATABASE_READ_URL } = present
  const isRequired = API_KEY_REQUIRED === 'true'
  const isVerified = REGISTRATION === 'verified'
  return [
    ...(isRequired && REGISTRATION === undefined
      ? ['REGISTRATION: must be set, to once, open or verified, when API_KEY_REQUIRED is true']
      : []),
    ...(isVerified && SMTP_URL === undefined
      ? ['SMTP_URL: must be set when REGISTRATION is verified: keys go by mail']
      : []),
    ...(isVerified && MAIL_FROM === undefined
      ? ['MAIL_FROM: must be set when REGISTRATION is verified']
      : []),
    ...(DATABASE_READ_URL !== undefined && DATABASE_URL === undefined
      ? ['DATABASE_URL: must be set when DATABASE_READ_URL is set: the embedded database has no replica']
      : []),
    // A generated secret is local to one instance, so it cannot be used with a shared database.
    ...(isRequired && DATABASE_URL !== undefined && KEY_ENCRYPTION_SECRET === undefined
      ? ['KEY_ENCRYPTION_SECRET: must be set when API_KEY_REQUIRED is true and DATABASE_URL is set']
      : []),
    ...passwords.flatMap(({ password, url }) => describePassword(present, password, url)),
  ]
}

/** Each belongs to one URL: that of the database is never sent to the host of its replica. */
const passwords = [
  { password: 'DATABASE_PASSWORD', url: 'DATABASE_URL' },
  { password: 'DATABASE_READ_PASSWORD', url: 'DATABASE_READ_URL' },
  { password: 'REDIS_PASSWORD', url: 'REDIS_URL' },
] as const

const describePassword = (
  present: Readonly<Record<string, string>>,
  password: string,
  url: string,
): readonly string[] => {
  if (present[password] === undefined) return []
  const text = present[url]
  if (text === undefined) return [`${url}: must be set when ${password} is set`]
  const other = findPassword(text)
  return other === null || other === present[password]
    ? []
    : [`${password}: differs from the password in ${url}: remove one of them`]
}

export const serviceVariables: readonly string[] = Object.keys(environmentShape.shape)

/** Families hide their parsed settings, so that their variables are told by name. */
export const isFamilyVariable = (name: string): boolean =>
  isKnownName(
    name,
    knownFamilies.flatMap(({ variables }) => variables?.known ?? []),
  )

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
  }
  /** `default`: nothing else was configured. `off`: payments are real. */
  readonly sandbox: 'off' | 'chosen' | 'default'
  readonly operatorToken: Secret | null
  /** Null: /metrics is public. */
  readonly metricsToken: Secret | null
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
  readonly verifyDeadlineMs: number
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

const listPresent = (environment: Readonly<Record<string, string | undefined>>): Record<string, string> => {
  const present: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && value.trim() !== '') present[name] = value.trim()
  }
  return present
}

/** Every variable of the service with its value or default, for a valid environment; secrets print as `[secret]`. */
export const readServiceVariables = (
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, unknown>> => environmentShape.parse(listPresent(environment))

/** The settings of an environment, with the content of secret files in place of their paths, for a valid environment. */
export const readSettings = (
  environment: Readonly<Record<string, string | undefined>>,
): Pick<SecretFilesReading, 'environment' | 'namesInFiles'> =>
  readSecretFiles(sortVariables(listPresent(environment), knownFamilies, []).present)

/** The settings among these that may be given as files, by the names of those variables. */
const listSecretFiles = ({ names }: KnownNames): KnownNames => ({
  names: names.filter(isSecretName).map(secretFileOf),
})

/** Which variables are for the service, and which are mistakes. */
const sortVariables = (
  given: Readonly<Record<string, string>>,
  families: readonly AnyChainFamily[],
  namesInFile: readonly string[],
): { readonly present: Readonly<Record<string, string>>; readonly problems: readonly string[] } => {
  const familyNames = families.flatMap(({ variables }) => variables ?? [])
  const settings: readonly KnownNames[] = [
    { names: serviceVariables },
    ...familyNames.map((each) => each.known),
  ]
  const known = [...settings, ...settings.map(listSecretFiles)]
  const named = variableNames.safeParse(given.OTHER_VARIABLES ?? '').data ?? []
  const isOther = (name: string): boolean =>
    isOfPlatform(name) ||
    (isOfOrchestrator(name) && !namesInFile.includes(name)) ||
    named.some((other) => (other.endsWith('*') ? name.startsWith(other.slice(0, -1)) : name === other))

  const present: Record<string, string> = {}
  const problems: string[] = []
  for (const [name, value] of Object.entries(given)) {
    if (isKnownName(name, known) || isKnownName(nameOfSecretFile(name) ?? '', settings)) {
      present[name] = value
      continue
    }
    if (isOther(name)) continue
    const isInFile = namesInFile.includes(name)
    const isOfFamily = familyNames.some(({ prefix }) => name.startsWith(prefix))
    const setting = name.replace(/_FILE$/, '')
    if ((isInFile || isOfFamily) && setting !== name && isKnownName(setting, settings)) {
      problems.push(
        `${name}: is not a known setting; only secrets can be given as files, and ${setting} is none`,
      )
      continue
    }
    // The family reports what begins with its prefix.
    if (isOfFamily) {
      present[name] = value
      continue
    }
    const meant = isInFile ? findMeantName(name, known) : findMisspelt(name, known)
    // Another program's variable of nearly the same name: the setting itself is there.
    if (!isInFile && (meant === null || given[meant] !== undefined)) continue
    const advice = meant === null ? '' : `; did you mean ${meant}?`
    problems.push(
      `${name}: is not a known setting${advice === '' ? ';' : `${advice} If not,`} remove it${isInFile ? ' from .env' : ''}, or name it in OTHER_VARIABLES if another program reads it`,
    )
  }
  return { present, problems }
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
    },
    sandbox: isSandbox ? sandbox : 'off',
    operatorToken: variables.OPERATOR_TOKEN ?? null,
    metricsToken: variables.METRICS_TOKEN ?? null,
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
      // Apart from what a real instance keeps in the same folder.
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

/** As the drivers of both stores read it: a parameter, or in the user part. Null: none. */
const findPassword = (text: string): string | null => {
  if (!URL.canParse(text)) return null
  const { password, searchParams } = new URL(text)
  if (searchParams.has('password') || password === '') return searchParams.get('password')
  try {
    return decodeURIComponent(password)
  } catch {
    return password
  }
}

const withPassword = (url: Secret | undefined, password: Secret | undefined): Secret | null => {
  if (url === undefined) return null
  if (password === undefined || findPassword(url.reveal()) !== null) return url
  const complete = new URL(url.reveal())
  // A URL without a host, such as that of a socket, has no user part.
  if (complete.host === '') complete.searchParams.set('password', password.reveal())
  else complete.password = encodeURIComponent(password.reveal())
  return new Secret(complete.href)
}

const sandboxNamespace = 'sandbox'

const privateBlocks = [...ownNetworkBlocks.loopback, ...ownNetworkBlocks.private]

/**
 * Stricter than listing: strangers choose the URL, so that a public instance must never do it by default. A sandbox by
 * default is on a developer's machine, but not one with a database server of its own, such as in containers.
 */
const mayProbePrivateHosts = (
  {
    DISCOVERY_PRIVATE_HOSTS: privateHosts,
    DATABASE_URL: databaseUrl,
  }: Pick<z.infer<typeof environmentShape>, 'DISCOVERY_PRIVATE_HOSTS' | 'DATABASE_URL'>,
  sandbox: Config['sandbox'],
): boolean =>
  privateHosts === undefined ? sandbox === 'default' && databaseUrl === undefined : privateHosts === 'true'

/**
 * Without SANDBOX, an instance without a chain is a sandbox, wherever its database is, unless it requires keys as one for
 * production does: then a forgotten variable must not make it one.
 */
const readSandbox = (
  { SANDBOX, API_KEY_REQUIRED }: Readonly<Record<string, string>>,
  chains: readonly EnabledChain[],
): Config['sandbox'] | 'contradiction' => {
  if (SANDBOX === 'true') return chains.length === 0 ? 'chosen' : 'contradiction'
  const isBare = chains.length === 0 && API_KEY_REQUIRED !== 'true'
  return SANDBOX === undefined && isBare ? 'default' : 'off'
}

/**
 * Where keys are optional, the rate of a key is never below the one without; except in a sandbox, where the limits of a
 * hosted service are tried.
 */
const readTiers = (
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

const readMail = ({
  SMTP_URL: url,
  MAIL_FROM: from,
}: Pick<z.infer<typeof environmentShape>, 'SMTP_URL' | 'MAIL_FROM'>): Config['accounts']['mail'] =>
  url === undefined || from === undefined ? null : { url, from }

const freezeDeeply = <T extends object>(value: T): T => {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null) freezeDeeply(part)
  }
  Object.freeze(value)
  return value
}
