import type { TronAddress } from '../encoding/address.js'

interface Part {
  readonly sun: number
  readonly since: number
}

/**
 * What our account has delegated beyond what this process knows of: by other instances, and by a process that ended. The
 * chain states one sum per receiver, so ages are those of the increases that were seen.
 */
export interface ForeignDelegations {
  /** Takes what the chain states for a receiver now; returns what was seen at `before` already, in sun. */
  observe(
    receiver: TronAddress,
    seen: { readonly sun: number; readonly now: number; readonly before: number },
  ): number
  /** Forgets all others. */
  keepOnly(receivers: readonly TronAddress[]): void
}

export const createForeignDelegations = (): ForeignDelegations => {
  const parts = new Map<TronAddress, readonly Part[]>()

  return {
    observe: (receiver, { sun, now, before }) => {
      const known = parts.get(receiver) ?? []
      const total = sumOf(known)
      // A decrease ends the newest part: a payer must not make old ones younger by further payments.
      const current = sun > total ? [...known, { sun: sun - total, since: now }] : cutTo(known, sun)
      parts.set(receiver, current)
      return sumOf(current.filter(({ since }) => since <= before))
    },
    keepOnly: (receivers) => {
      for (const receiver of parts.keys()) if (!receivers.includes(receiver)) parts.delete(receiver)
    },
  }
}

const sumOf = (parts: readonly Part[]): number => parts.reduce((sum, each) => sum + each.sun, 0)

/** The oldest parts, up to a sum. */
const cutTo = (parts: readonly Part[], sun: number): readonly Part[] => {
  let left = sun
  return parts.flatMap((part) => {
    const kept = Math.min(part.sun, left)
    left -= kept
    return kept === 0 ? [] : [{ ...part, sun: kept }]
  })
}
