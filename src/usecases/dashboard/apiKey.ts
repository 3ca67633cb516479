import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { KeyedAccount, Mailer, Sealer } from '../../ports/accountStore.js'
import type { LookupResult } from '../../protocol/accounts.js'
import type { KeyViewer } from './useCases.js'

export type KeyEnvironment = 'live' | 'test'

const prefix = 'qtn_sk_'
const byteCount = 32
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = BigInt(digits.length)
// ceil(256 / log2(62)).
const digitCount = 43
// ceil(32 / log2(62)).
const checksumLength = 6
const form = new RegExp(
  `^(?<content>${prefix}(?:live|test)_[0-9A-Za-z]{${digitCount}})(?<checksum>[0-9A-Za-z]{${checksumLength}})$`,
)
// Keys had it before they had environments and checksums.
const oldForm = new RegExp(`^${prefix}[0-9A-Za-z]{${digitCount}}$`)

/** `qtn_sk_live_` or `qtn_sk_test_`, 256 random bits, and a CRC-32, so that scanners recognize leaked keys. */
export const createApiKey = (environment: KeyEnvironment = 'live'): string => {
  const random = BigInt(`0x${randomBytes(byteCount).toString('hex')}`)
  const content = `${prefix}${environment}_${writeBase62(random, digitCount)}`
  return `${content}${checksumOf(content)}`
}

/** Checks format and checksum, so that malformed keys need no lookup. */
export const isApiKey = (text: string): boolean => {
  const { content, checksum } = form.exec(text)?.groups ?? {}
  return content === undefined ? oldForm.test(text) : checksumOf(content) === checksum
}

/** Whether a credential is meant for this service, also if it is malformed. */
export const containsApiKey = (text: string): boolean => text.includes(prefix)

export const maskedApiKey = `${prefix}${'*'.repeat(8)}`

const checksumOf = (content: string): string => writeBase62(BigInt(crc32(content)), checksumLength)

const writeBase62 = (value: bigint, length: number): string => {
  let rest = value
  let text = ''
  while (text.length < length) {
    text = `${digits[Number(rest % base)]}${text}`
    rest /= base
  }
  return text
}

/** `REGISTRATION`: how keys are handed out. */
export type Registration =
  | { readonly mode: 'once' | 'open' }
  | { readonly mode: 'verified'; readonly mailer: Mailer }

/** Whether the viewer sees full keys other than the one it creates or presents. */
export const areKeysShown = (mode: Registration['mode'], viewer: KeyViewer): boolean => {
  switch (mode) {
    case 'open':
      return true
    case 'once':
      return viewer === 'trusted'
    case 'verified':
      return false
  }
}

/** Whether a new account belongs to the mailbox that it names: strangers can name any. */
export const isMailboxProven = (mode: Registration['mode'], viewer: KeyViewer): boolean => {
  switch (mode) {
    case 'open':
      // The next caller that asks also gets the key.
      return false
    case 'once':
      return viewer === 'trusted'
    case 'verified':
      return true
  }
}

/** Throws if the stored bytes are not the key that the row's fingerprint finds: rows may have been exchanged. */
export const openKey = (
  sealer: Pick<Sealer, 'open' | 'fingerprints'>,
  { account, sealed, fingerprint }: KeyedAccount,
): string => {
  const apiKey = sealer.open(sealed, account.id)
  if (sealer.fingerprints(apiKey).some((each) => Buffer.from(each).equals(fingerprint))) return apiKey
  throw new Error(`The stored API key of account ${account.id} does not match its fingerprint`)
}

export const viewKey = (
  keyed: KeyedAccount,
  sealer: Pick<Sealer, 'open' | 'fingerprints'> | null,
): LookupResult['keys'][number] => ({
  apiKey: sealer === null ? maskedApiKey : openKey(sealer, keyed),
  project: keyed.account.project,
  tier: keyed.account.tier,
  status: keyed.account.status,
  createdAt: keyed.account.createdAt.toISOString(),
})
