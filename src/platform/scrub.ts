/* Messages and stacks of libraries contain RPC URLs with API keys, raw transactions and even private keys. */

interface ErrorDescription {
  readonly type: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
  readonly cause?: ErrorDescription
  readonly errors?: readonly ErrorDescription[]
}

/** Describes any thrown value, including its causes, without secrets. */
export const describeError = (error: unknown): ErrorDescription =>
  describe(error, { causesLeft: maxCauses, hasStacks: !isOutage(error, maxCauses) })

const maxCauses = 6
const maxGathered = 5
const maxTextLength = 4_000

interface Depth {
  readonly causesLeft: number
  readonly hasStacks: boolean
}

// They are codes of Node.js, undici and this service's errors.ts, and SQLSTATE classes of connection, access,
// conflicts, resources, shutdown, I/O, timeouts.
const outageCodes =
  /^(?:E[A-Z]{3,}|EAI_AGAIN|UND_ERR_\w+|(?:08|28|3D|40|53|57|58)[0-9A-Z]{3}|25006|25P0[34]|55P03|SERVICE_UNAVAILABLE|IDEMPOTENCY_UNAVAILABLE)$/
const outageNames = [
  'TimeoutError',
  'AbortError',
  'RpcError',
  'RateLimitedError',
  'NoResponseError',
  'ResponseTooLargeError',
  'StartError',
]
// Errors of the Postgres driver have no code.
const outageTexts =
  /Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|is not queryable|No notification arrives/

/** Something else is away, in time or silent: expected to happen, and no stack helps. */
const isOutage = (error: unknown, causesLeft: number): boolean => {
  if (!(error instanceof Error)) return false
  if ('code' in error && outageCodes.test(String(error.code))) return true
  if (outageNames.includes(error.name) || outageTexts.test(error.message)) return true
  return causesLeft > 0 && isOutage(error.cause, causesLeft - 1)
}

const describe = (error: unknown, { causesLeft, hasStacks }: Depth): ErrorDescription => {
  if (!(error instanceof Error)) return { type: typeof error, message: scrubText(describeThrown(error)) }
  const code = 'code' in error ? readCode(error.code) : null
  const hasCause = error.cause !== undefined && causesLeft > 0
  const gathered = error instanceof AggregateError && causesLeft > 0 ? error.errors.slice(0, maxGathered) : []
  return {
    type: error.name,
    message: scrubText(error.message),
    ...(code === null ? {} : { code }),
    ...(hasStacks && error.stack !== undefined ? { stack: scrubText(error.stack) } : {}),
    ...(hasCause ? { cause: describe(error.cause, { causesLeft: causesLeft - 1, hasStacks }) } : {}),
    ...(gathered.length === 0
      ? {}
      : { errors: gathered.map((one) => describe(one, { causesLeft: causesLeft - 1, hasStacks })) }),
  }
}

/** Thrown objects are not printed: their content is unknown. */
const describeThrown = (thrown: unknown): string =>
  typeof thrown === 'object' || typeof thrown === 'function' ? 'not an Error' : String(thrown)

const readCode = (code: unknown): string | null => {
  if (typeof code === 'number') return String(code)
  return typeof code === 'string' ? scrubText(code) : null
}

/**
 * Replaces URLs by their origin, and tokens, keys, passwords, seed phrases and long hex or base64 strings.
 * Transaction hashes look like private keys: log them as separate fields.
 */
export const scrubText = (text: string): string => {
  return rules.reduce((scrubbed, { pattern, replace }) => scrubbed.replace(pattern, replace), shorten(text))
}

/** Cuts at a space: a truncated key would no longer be recognized. */
const shorten = (text: string): string => {
  if (text.length <= maxTextLength) return text
  return `${text.slice(0, text.lastIndexOf(' ', maxTextLength) + 1)}…`
}

interface Rule {
  readonly pattern: RegExp
  readonly replace: (match: string, name?: string) => string
}

const keepOrigin = (url: string): string => {
  // Stack traces of ES modules contain file URLs.
  if (url.startsWith('file://')) return url
  if (!URL.canParse(url)) return '[url]'
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}`
}

const secretNames =
  '(?:api[-_ ]?key|(?:access|auth|operator|metrics)[-_ ]?token|secret|password|passphrase|private[-_ ]?key|mnemonic|seed)'
// Escaped where JSON stands in a string of JSON.
const quote = String.raw`(?:\\*["'])?`
/** In quotes, or up to the next separator. */
const secretValue = String.raw`(?:\\*"[^"]*"|\\*'[^']*'|\\*["']?[^\s"',;&]+)`
/** `EVM_PRIVATE_KEY: must be …` is one of our sentences about a setting. */
const sentence = '(?<=: )(?:(?:must|is|are|has|holds|write|set|restore) [a-z]|key [0-9]+ (?:is|does) )'

/** Twelve or more short lower-case words in a row, without those of every English sentence that BIP-39 does not have. */
const seedPhrase =
  /\b(?:(?!(?:and|are|but|does|for|from|has|its|not|the|was|with)\b)[a-z]{3,8}[ ,]+){11,}[a-z]{3,8}\b/g

const rules: readonly Rule[] = [
  { pattern: /[a-z][a-z0-9+.-]{0,15}:\/\/[^\s"'<>`]+/gi, replace: keepOrigin },
  {
    pattern: /\b(Bearer|Basic)\s+(?!or as )[^\s<"',;]+/gi,
    replace: (_match, scheme = '') => `${scheme} [redacted]`,
  },
  // They go before names are looked for, which would take the first word and leave eleven.
  { pattern: seedPhrase, replace: () => '[words]' },
  { pattern: /\b(?:qtn_sk|whsec)_[A-Za-z0-9+/=_-]+/g, replace: () => '[key]' },
  {
    pattern: new RegExp(`(${secretNames}${quote}\\s*[:=]\\s*)(?!${sentence})${secretValue}`, 'gi'),
    replace: (_match, name = '') => `${name}[redacted]`,
  },
  {
    pattern: /(?:0x)?[0-9a-f]{64,}/gi,
    // Amounts have up to 78 decimal digits; a key also has letters.
    replace: (match) => (/^[0-9]+$/.test(match) ? match : '[hex]'),
  },
  // Base58 keys of 64 bytes, and base64 payment headers. File paths contain dots and dashes and are kept.
  { pattern: /[A-Za-z0-9]{80,}|[A-Za-z0-9+/=]{120,}/g, replace: () => '[encoded]' },
]

const secretFields = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'xapikey',
  'apikey',
  'paymentsignature',
  'xpayment',
  'paymentresponse',
  'xpaymentresponse',
  'signinwithx',
  'xt402siwx',
  'body',
  'rawbody',
  'payload',
  'paymentpayload',
  'proof',
  'bytes',
  'signature',
  'secret',
  'password',
  'privatekey',
  'mnemonic',
  'seed',
])

// These may contain 32 bytes in hex, because they are identifiers and not keys.
const identifierFields = new Set([
  'transaction',
  'transactions',
  'transactionhash',
  'blockhash',
  'authorizationid',
  'fingerprint',
  'settlementid',
  'requestid',
  'nonce',
  // On some networks, accounts are identified by such a hash.
  'payer',
  'payto',
  'asset',
  'signer',
])

const normalName = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '')

const maxFieldDepth = 6

/** Removes secrets from log fields, by field name or else by the form of the text. */
export const scrubFields = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  scrubObject(fields, maxFieldDepth)

const scrubObject = (fields: object, depthLeft: number): Record<string, unknown> => {
  const scrubbed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    scrubbed[name] = scrubField(normalName(name), value, depthLeft)
  }
  return scrubbed
}

const scrubField = (name: string, value: unknown, depthLeft: number): unknown => {
  if (value === null || value === undefined) return value
  if (secretFields.has(name)) return '[redacted]'
  if (typeof value === 'string') return identifierFields.has(name) ? value : scrubText(value)
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Error) return describeError(value)
  if (value instanceof Date) return value
  if (typeof value !== 'object') return value
  if (depthLeft === 0) return '[deep]'
  if (Array.isArray(value)) return value.map((one) => scrubField(name, one, depthLeft - 1))
  // Values with toJSON serialize themselves: a Secret becomes [secret].
  if ('toJSON' in value && typeof value.toJSON === 'function') return value
  return scrubObject(value, depthLeft - 1)
}
