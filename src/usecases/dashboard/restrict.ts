import { AppError } from '../../errors.js'
import type { AccountStore } from '../../ports/accountStore.js'
import type { AddressBlocks } from '../../ports/addressBlocks.js'
import { maxRestrictions } from '../../protocol/accounts.js'
import { unknownActor } from './actor.js'
import { normalizeHostName } from './hostName.js'
import type { MailChange } from './mailChange.js'
import type { DashboardUseCases } from './useCases.js'

const maxQuotedLength = 60

export const createRestrict =
  (accounts: AccountStore, blocks: AddressBlocks, mailChange: MailChange): DashboardUseCases['restrict'] =>
  async (account, restrictions, by = unknownActor) => {
    const allowedIPs = readList(restrictions.allowedIPs, {
      name: 'allowedIPs',
      rule: 'must be an IP address or a CIDR block',
      normalize: blocks.normalize,
    })
    const allowedRef = readList(restrictions.allowedRef, {
      name: 'allowedRef',
      rule: 'must be a host name, which covers its subdomains',
      normalize: normalizeHostName,
    })
    const stored = {
      allowedIPs: allowedIPs.length === 0 ? null : allowedIPs,
      allowedRef: allowedRef.length === 0 ? null : allowedRef,
    }
    await accounts.setRestrictions(account.id, stored, { by })
    mailChange(account, 'restrictions.changed', by)
    return { allowedIPs, allowedRef }
  }

interface ListRule {
  readonly name: string
  readonly rule: string
  readonly normalize: (entry: string) => string | null
}

/** Normalized and deduplicated. Throws INVALID_REQUEST that lists every malformed entry. */
const readList = (entries: readonly string[], { name, rule, normalize }: ListRule): string[] => {
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
