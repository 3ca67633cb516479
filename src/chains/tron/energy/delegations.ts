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
