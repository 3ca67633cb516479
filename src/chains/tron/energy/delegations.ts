import { z } from 'zod'
import { readAddress, type TronAddress } from '../encoding/address.js'
import type { Rpc } from '../rpc/rpc.js'

const whole = z.int().nonnegative()
const maxSizeShape = z.object({ max_size: whole.default(0) })
const receiversShape = z.object({ toAccounts: z.array(z.string()).default([]) })
const delegatedShape = z.object({
  delegatedResource: z.array(z.object({ frozen_balance_for_energy: whole.default(0) })).default([]),
})

const energyType = 1
const sunPerTrx = 1_000_000

export interface DelegableEnergy {
  readonly sun: number
  readonly energy: number
  readonly sunPerEnergy: number
}

export const readDelegableEnergy = async (rpc: Rpc, owner: TronAddress): Promise<DelegableEnergy> => {
  const [{ max_size: sun }, { totalEnergy, totalStaked, energy: unused }] = await Promise.all([
    rpc.ask('/wallet/getcandelegatedmaxsize', { owner_address: owner, type: energyType }, maxSizeShape),
    rpc.getResources(owner),
  ])
  const sunPerEnergy = (totalStaked * sunPerTrx) / Math.max(1, totalEnergy)
  // Used energy recovers within 24 hours.
  return { sun, energy: Math.min(Math.floor(sun / Math.max(1, sunPerEnergy)), unused), sunPerEnergy }
}

export const listReceivers = async (rpc: Rpc, owner: TronAddress): Promise<readonly TronAddress[]> => {
  const { toAccounts } = await rpc.ask(
    '/wallet/getdelegatedresourceaccountindexv2',
    { value: owner, visible: false },
    receiversShape,
  )
  return toAccounts.map(readAddress).filter((address) => address !== null)
}

/** Delegated for energy, in sun. */
export const findDelegated = async (rpc: Rpc, from: TronAddress, to: TronAddress): Promise<number> => {
  const { delegatedResource } = await rpc.ask(
    '/wallet/getdelegatedresourcev2',
    { fromAddress: from, toAddress: to, visible: false },
    delegatedShape,
  )
  return delegatedResource.reduce((sum, { frozen_balance_for_energy: sun }) => sum + sun, 0)
}

interface Part {
  readonly sun: number
  readonly since: number
}

/**
 * What our account has delegated beyond what this process knows of: by other instances, and by a process that ended. The
 * chain states one sum per receiver, so ages are those of the increases that were seen.
 */
interface ForeignDelegations {
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
