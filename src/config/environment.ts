import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { sponsoredRecipients } from '../chains/common/sponsoring.js'
import {
  cidrBlocks,
  defaultPublicMailDomains,
  domainNames,
  mailSender,
  oneLine,
  pageOrigins,
  secretUrl,
  tierTable,
  variableNames,
  visibleText,
  webhookTargets,
} from '../platform/configValues.js'
import { Secret } from '../platform/secret.js'
import { headerPairs, resourcePairs, samplers } from '../platform/tracer/settings.js'
import { decimalNumber, wholeNumber } from '../platform/wholeNumber.js'
import type { ClaimDemands, ConfiguredRecipient } from '../protocol/recipients.js'
import { bodyLimits, defaultRequestLimits } from '../protocol/requestLimits.js'

// CAIP-10, then what claims must show.
const entryForm = /^([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}):([^\s,=]{1,256})=(\S+)$/
const ofAccountForm = /^(?:ownKey|uniqueAmount):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** `near:mainnet:shop.near=memo+signedClaim`, comma separated. */
const directRecipients = z.string().transform((text, context): readonly ConfiguredRecipient[] => {
  const recipients = text.split(',').map((entry) => readRecipient(entry.trim()))
  const valid = recipients.filter((recipient) => recipient !== null)
  if (valid.length === recipients.length) return valid
  context.addIssue({
    code: 'custom',
    message:
      'must list recipients such as near:mainnet:shop.near=memo+signedClaim or …=ownKey:<account id>, comma separated',
  })
  return z.NEVER
})

const readRecipient = (entry: string): ConfiguredRecipient | null => {
  const [, network = '', payTo = '', listed = ''] = entryForm.exec(entry) ?? []
  const names = listed.split('+')
  const accounts = new Set(names.flatMap((name) => ofAccountForm.exec(name)?.[1] ?? []))
  const [accountId = null] = accounts
  const isKnown = (name: string) => name === 'memo' || name === 'signedClaim' || ofAccountForm.test(name)
  if (network === '' || accounts.size > 1 || !names.every(isKnown)) return null
  const demands: ClaimDemands = {
    memo: names.includes('memo'),
    signedClaim: names.includes('signedClaim'),
    uniqueAmount: names.some((name) => name.startsWith('uniqueAmount:')),
    ownKey: names.some((name) => name.startsWith('ownKey:')),
  }
  return { network, payTo, demands, accountId }
}

const maxWorkers = 64

const workerCount = z
  .string()
  .regex(/^(auto|[0-9]{1,15})$/, 'must be auto or a whole number')
  .transform((text) => (text === 'auto' ? Math.min(availableParallelism(), maxWorkers) : Number(text)))
  .refine((count) => count >= 1 && count <= maxWorkers, `must be auto or between 1 and ${maxWorkers}`)

// The nightly reconciliation compares what is up to nine days old with the chain.
const minBroadcastDays = 14

export const environmentShape = z.object({
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
  SHUTDOWN_DELAY_SECONDS: wholeNumber(0, 300).default(0),
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
  WORKERS: workerCount.default(1),
  DATABASE_URL: secretUrl('postgres:', 'postgresql:').optional(),
  DATABASE_PASSWORD: oneLine.optional(),
  DATABASE_POOL_SIZE: wholeNumber(2, 500).default(20),
  DATABASE_READ_URL: secretUrl('postgres:', 'postgresql:').optional(),
  DATABASE_READ_PASSWORD: oneLine.optional(),
  DATABASE_READ_POOL_SIZE: wholeNumber(1, 100).default(5),
  DATABASE_READ_TIMEOUT_MS: wholeNumber(100, 60_000).default(2_000),
  HOLD_ACTION_MINUTES: wholeNumber(5, 1_440).default(120),
  HOLD_EXPIRING_HOURS: wholeNumber(1, 8_760).default(24),
  STREAM_UNSIGNED_HOURS: wholeNumber(1, 168).default(24),
  RETENTION_BROADCASTS_DAYS: wholeNumber(0, 36_500)
    .refine((days) => days === 0 || days >= minBroadcastDays, `must be 0 or at least ${minBroadcastDays}`)
    .default(90),
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
  OTEL_EXPORTER_OTLP_ENDPOINT: secretUrl('http:', 'https:').optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: secretUrl('http:', 'https:').optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headerPairs.optional(),
  OTEL_SERVICE_NAME: z.string().max(200, 'must be at most 200 characters').optional(),
  OTEL_RESOURCE_ATTRIBUTES: resourcePairs.optional(),
  OTEL_TRACES_SAMPLER: z
    .enum(samplers, `must be ${samplers.slice(0, -1).join(', ')} or ${samplers.at(-1)}`)
    .default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: decimalNumber(1).default(1),
  OTEL_SDK_DISABLED: z.enum(['true', 'false'], 'must be true or false').default('false'),
  OTHER_VARIABLES: variableNames.default([]),
})

export const listInvalidCombinations = (present: Readonly<Record<string, string>>): readonly string[] => {
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

export const withPassword = (url: Secret | undefined, password: Secret | undefined): Secret | null => {
  if (url === undefined) return null
  if (password === undefined || findPassword(url.reveal()) !== null) return url
  const complete = new URL(url.reveal())
  // A URL without a host, such as that of a socket, has no user part.
  if (complete.host === '') complete.searchParams.set('password', password.reveal())
  else complete.password = encodeURIComponent(password.reveal())
  return new Secret(complete.href)
}
