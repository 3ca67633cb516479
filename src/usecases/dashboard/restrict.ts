import { domainToASCII } from 'node:url'
import { AppError } from '../../errors.js'
import type { AccountStore, AddressBlocks } from '../../ports/accountStore.js'
import { maxRestrictions } from '../../protocol/accounts.js'
import { type MailChange, unknownActor } from './mails.js'
import type { DashboardUseCases } from './useCases.js'

const maxQuotedLength = 60

export const createRestrict =
  (accounts: AccountStore, blocks: AddressBlocks, mailChange: MailChange): DashboardUseCases['restrict'] =>
  async (account, change, by = unknownActor) => {
    const allowedIPs = readList(change.allowedIPs, {
      name: 'allowedIPs',
      rule: 'must be an IP address or a CIDR block',
      normalize: blocks.normalize,
    })
    const allowedRef = readList(change.allowedRef, {
      name: 'allowedRef',
      rule: 'must be a host name, which covers its subdomains',
      normalize: normalizeHostName,
    })
    if (allowedIPs === undefined && allowedRef === undefined) {
      throw new AppError('INVALID_REQUEST', 'The body must have allowedIPs or allowedRef')
    }
    const { address } = by
    if (change.force !== true && allowedIPs != null && address !== null) {
      if (!blocks.include(allowedIPs, address)) throw wouldLockOut(address)
    }
    const stored = await accounts.setRestrictions(
      account.id,
      {
        ...(allowedIPs === undefined ? {} : { allowedIPs }),
        ...(allowedRef === undefined ? {} : { allowedRef }),
      },
      { by },
    )
    mailChange(account, 'restrictions.changed', by)
    return { allowedIPs: [...(stored?.allowedIPs ?? [])], allowedRef: [...(stored?.allowedRef ?? [])] }
  }

const wouldLockOut = (address: string): AppError =>
  new AppError(
    'INVALID_REQUEST',
    `allowedIPs: does not contain ${address}, the address of this request; add it, or send "force": true`,
  )

interface ListRule {
  readonly name: string
  readonly rule: string
  readonly normalize: (entry: string) => string | null
}

/**
 * Normalized and deduplicated; null for no restriction, undefined if absent. Throws INVALID_REQUEST that lists every
 * malformed entry.
 */
const readList = (
  entries: readonly string[] | null | undefined,
  { name, rule, normalize }: ListRule,
): readonly string[] | null | undefined => {
  if (entries === undefined || entries === null) return entries
  if (entries.length === 0) return null
  if (entries.length > maxRestrictions) {
    throw new AppError('INVALID_REQUEST', `${name}: may have at most ${maxRestrictions} entries`)
  }
  const read = entries.map((entry) => ({ entry, normal: normalize(entry.trim()) }))
  const invalid = read.flatMap(({ entry, normal }, index) =>
    normal === null ? [`${name}[${index}] ${quote(entry)}`] : [],
  )
  if (invalid.length > 0) throw new AppError('INVALID_REQUEST', `${invalid.join(', ')}: ${rule}`)
  return [...new Set(read.flatMap(({ normal }) => (normal === null ? [] : [normal])))]
}

/** Escaped, so that entries cannot inject terminal control or bidirectional text. */
const quote = (entry: string): string => {
  const shown = entry.length > maxQuotedLength ? `${entry.slice(0, maxQuotedLength)}…` : entry
  return JSON.stringify(shown).replaceAll(/\p{C}/gu, '\ufffd')
}

const host =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?)*$/

/** Lower-case ASCII (punycode); null if invalid, such as a URL or a pattern. */
const normalizeHostName = (text: string): string | null => {
  // Characters that `domainToASCII` would strip or reinterpret.
  if (text.length > 253 || /[\p{C}\p{Z}/?#@:%*[\]\\]/u.test(text)) return null
  const name = domainToASCII(text.replace(/\.$/, ''))
  return host.test(name) ? name : null
}

/** Matches entries and their subdomains; `allowed` must be normalized. */
export const isHostAllowed = (allowed: readonly string[], hostName: string | null): boolean => {
  const name = hostName === null ? null : normalizeHostName(hostName)
  return name !== null && allowed.some((entry) => name === entry || name.endsWith(`.${entry}`))
}
