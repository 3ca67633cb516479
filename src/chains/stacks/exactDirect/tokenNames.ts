import type { Ask } from '../../common/direct/node.js'
import { findTokenNames } from '../rpc/rpc.js'

/** The token of a contract that is its SIP-010 token; null if it cannot be determined. */
export type FindTokenName = (ask: Ask, contract: string) => Promise<string | null>

/**
 * A contract can define several tokens, and mints and moves each as it likes: only one is what the asset stands for. The
 * operator names it, or it is the only one. Contracts cannot change, so what was read once is kept.
 */
export const createFindTokenName = (pinned: ReadonlyMap<string, string>): FindTokenName => {
  const known = new Map(pinned)
  return async (ask, contract) => {
    const name = known.get(contract)
    if (name !== undefined) return name
    const names = await findTokenNames(ask, contract)
    const [only] = names?.length === 1 ? names : []
    if (only === undefined) return null
    known.set(contract, only)
    return only
  }
}
